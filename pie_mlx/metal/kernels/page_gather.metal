// page_gather: pages of a pool read into arrays of their own (spill, dense attention over long histories).
//
// inputs: k_pool T, v_pool T, source_pages int32, valid_rows int32, fence int32
// outputs: k_pages T, v_pages T, done int32
//
// pools [pages, P, ROW]; source_pages, valid_rows [count]; k_pages, v_pages [count, P, ROW], zero past the valid rows.
// Template: T, P, K_ROW, V_ROW (multiples of 4).
// Grid (threads for P * max(K_ROW, V_ROW) / 4, count): four elements of K and of V per thread.
// Traffic: reads the valid rows once, writes whole pages.

// body
  uint four = thread_position_in_grid.x;
  uint page = thread_position_in_grid.y;
  if (four == 0 && page == 0) done[0] = fence[0] + 1;
  uint rows = valid_rows[page];
  size_t source = source_pages[page];
  if (four < P * (K_ROW / 4)) {
    vec<T, 4> keys = vec<T, 4>(T(0.0f));
    if (four < rows * (K_ROW / 4)) keys = *(const device vec<T, 4>*)(k_pool + source * P * K_ROW + four * 4);
    *(device vec<T, 4>*)(k_pages + size_t(page) * P * K_ROW + four * 4) = keys;
  }
  if (four < P * (V_ROW / 4)) {
    vec<T, 4> values = vec<T, 4>(T(0.0f));
    if (four < rows * (V_ROW / 4)) values = *(const device vec<T, 4>*)(v_pool + source * P * V_ROW + four * 4);
    *(device vec<T, 4>*)(v_pages + size_t(page) * P * V_ROW + four * 4) = values;
  }
