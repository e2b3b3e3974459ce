// kv_write: new keys and values into their slots of the pool, in place.
//
// inputs: k_new T, v_new T, k_pool T, v_pool T, slots int32, fence_in int32
// outputs: fence int32
// mutates: k_pool, v_pool
//
// k_new [tokens, K_ROW] and v_new [tokens, V_ROW] with K_ROW = heads * key size; pools [pages * page size, ROW];
// slots [tokens] = page * page size + offset, -1 for a padding token; fences [1].
// Template: T, K_ROW, V_ROW (multiples of 4).
// Grid (threads for max(K_ROW, V_ROW) / 4, tokens): four elements of K and of V per thread.
// Traffic: reads each new row once, writes it once; 4 bytes of slot per threadgroup.
// The fence orders this write after the readers behind `fence_in`, and before every kernel that takes `fence`.

// body
  uint four = thread_position_in_grid.x;
  uint token = thread_position_in_grid.y;
  if (four == 0 && token == 0) fence[0] = fence_in[0] + 1;
  int slot = slots[token];
  if (slot >= 0) {
    device T* keys = const_cast<device T*>(k_pool) + size_t(slot) * K_ROW;
    device T* values = const_cast<device T*>(v_pool) + size_t(slot) * V_ROW;
    if (four < K_ROW / 4)
      *(device vec<T, 4>*)(keys + four * 4) = *(const device vec<T, 4>*)(k_new + size_t(token) * K_ROW + four * 4);
    if (four < V_ROW / 4)
      *(device vec<T, 4>*)(values + four * 4) = *(const device vec<T, 4>*)(v_new + size_t(token) * V_ROW + four * 4);
  }
