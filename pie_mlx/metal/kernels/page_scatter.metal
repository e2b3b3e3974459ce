// page_scatter: pages from arrays of their own written into a pool, in place (restore).
//
// inputs: k_pages T, v_pages T, k_pool T, v_pool T, target_pages int32, valid_rows int32, fence_in int32
// outputs: fence int32
// mutates: k_pool, v_pool
//
// k_pages, v_pages [count, P, ROW]; pools [pages, P, ROW]; target_pages (all different), valid_rows [count].
// Template: T, P, K_ROW, V_ROW (multiples of 4).
// Grid (threads for P * max(K_ROW, V_ROW) / 4, count): four elements of K and of V per thread.
// Traffic: reads and writes the valid rows once.

// body
  uint four = thread_position_in_grid.x;
  uint page = thread_position_in_grid.y;
  if (four == 0 && page == 0) fence[0] = fence_in[0] + 1;
  uint rows = valid_rows[page];
  size_t target = target_pages[page];
  if (four < rows * (K_ROW / 4)) {
    device T* keys = const_cast<device T*>(k_pool) + target * P * K_ROW;
    *(device vec<T, 4>*)(keys + four * 4) =
        *(const device vec<T, 4>*)(k_pages + size_t(page) * P * K_ROW + four * 4);
  }
  if (four < rows * (V_ROW / 4)) {
    device T* values = const_cast<device T*>(v_pool) + target * P * V_ROW;
    *(device vec<T, 4>*)(values + four * 4) =
        *(const device vec<T, 4>*)(v_pages + size_t(page) * P * V_ROW + four * 4);
  }
