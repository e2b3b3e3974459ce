// page_scatter: pages from arrays of their own written into a pool, in place (restore).
//
// uses: chunks.metal
// inputs: k_pages T, v_pages T, k_pool T, v_pool T, target_pages int32, valid_rows int32, fence_in int32
// outputs: fence int32
// mutates: k_pool, v_pool
//
// k_pages, v_pages [count, P, ROW]; pools [pages, P, ROW]; target_pages (all different), valid_rows [count].
// Template: T, P, K_ROW, V_ROW, N (4 if it divides both rows, else 1).
// Grid (threads for P * max(K_ROW, V_ROW) / N, count): N elements of K and of V per thread.
// Traffic: reads and writes the valid rows once.

// body
  typedef typename ChunkOf<T, N>::type Chunk;
  uint chunk = thread_position_in_grid.x;
  uint page = thread_position_in_grid.y;
  if (chunk == 0 && page == 0) fence[0] = fence_in[0] + 1;
  uint rows = valid_rows[page];
  size_t target = target_pages[page];
  if (chunk < rows * (K_ROW / N)) {
    device T* keys = const_cast<device T*>(k_pool) + target * P * K_ROW;
    *(device Chunk*)(keys + chunk * N) =
        *(const device Chunk*)(k_pages + size_t(page) * P * K_ROW + chunk * N);
  }
  if (chunk < rows * (V_ROW / N)) {
    device T* values = const_cast<device T*>(v_pool) + target * P * V_ROW;
    *(device Chunk*)(values + chunk * N) =
        *(const device Chunk*)(v_pages + size_t(page) * P * V_ROW + chunk * N);
  }
