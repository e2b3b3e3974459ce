// page_gather: pages of a pool read into arrays of their own (spill, dense attention over long histories).
//
// uses: chunks.metal
// inputs: k_pool T, v_pool T, source_pages int32, valid_rows int32, fence int32
// outputs: k_pages T, v_pages T, done int32
//
// pools [pages, P, ROW]; source_pages, valid_rows [count]; k_pages, v_pages [count, P, ROW], zero past the valid rows.
// Template: T, P, K_ROW, V_ROW, N (4 if it divides both rows, else 1).
// Grid (threads for P * max(K_ROW, V_ROW) / N, count): N elements of K and of V per thread.
// Traffic: reads the valid rows once, writes whole pages.

// body
  typedef typename ChunkOf<T, N>::type Chunk;
  uint chunk = thread_position_in_grid.x;
  uint page = thread_position_in_grid.y;
  if (chunk == 0 && page == 0) done[0] = fence[0] + 1;
  uint rows = valid_rows[page];
  size_t source = source_pages[page];
  if (chunk < P * (K_ROW / N)) {
    Chunk keys = Chunk(T(0.0f));
    if (chunk < rows * (K_ROW / N)) keys = *(const device Chunk*)(k_pool + source * P * K_ROW + chunk * N);
    *(device Chunk*)(k_pages + size_t(page) * P * K_ROW + chunk * N) = keys;
  }
  if (chunk < P * (V_ROW / N)) {
    Chunk values = Chunk(T(0.0f));
    if (chunk < rows * (V_ROW / N)) values = *(const device Chunk*)(v_pool + source * P * V_ROW + chunk * N);
    *(device Chunk*)(v_pages + size_t(page) * P * V_ROW + chunk * N) = values;
  }
