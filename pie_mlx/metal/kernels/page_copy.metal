// page_copy: valid rows of pages copied to other pages of the same pool, in place.
//
// uses: chunks.metal
// inputs: k_pool T, v_pool T, source_pages int32, target_pages int32, valid_rows int32, fence_in int32
// outputs: fence int32
// mutates: k_pool, v_pool
//
// pools [pages, P, ROW] in elements of T; source_pages, target_pages, valid_rows [copies]; no page is both a source and
// a target of one launch. Template: T, P, K_ROW, V_ROW, N (4 if it divides both rows, else 1).
// Grid (threads for P * max(K_ROW, V_ROW) / N, copies): N elements of K and of V per thread.
// Traffic: reads and writes the valid rows once; 12 bytes per threadgroup of page numbers.

// body
  typedef typename ChunkOf<T, N>::type Chunk;
  uint chunk = thread_position_in_grid.x;
  uint copy = thread_position_in_grid.y;
  if (chunk == 0 && copy == 0) fence[0] = fence_in[0] + 1;
  uint rows = valid_rows[copy];
  size_t source = source_pages[copy];
  size_t target = target_pages[copy];
  if (chunk < rows * (K_ROW / N)) {
    device T* keys = const_cast<device T*>(k_pool);
    *(device Chunk*)(keys + target * P * K_ROW + chunk * N) =
        *(const device Chunk*)(k_pool + source * P * K_ROW + chunk * N);
  }
  if (chunk < rows * (V_ROW / N)) {
    device T* values = const_cast<device T*>(v_pool);
    *(device Chunk*)(values + target * P * V_ROW + chunk * N) =
        *(const device Chunk*)(v_pool + source * P * V_ROW + chunk * N);
  }
