// kv_write_quantised: new keys or values quantised into their slots of a pool of codes, in place.
//
// inputs: new_rows T, codes uint32, scales T, biases T, slots int32, fence_in int32
// outputs: fence int32
// mutates: codes, scales, biases
//
// new_rows [tokens, ROW] with ROW = heads * head size; codes [slots, ROW * BITS / 32]; scales and biases
// [slots, ROW / GROUP]; slots [tokens], -1 for a padding token; fences [1].
// Template: T, ROW, BITS (8 or 4), GROUP (32 or 64, a divisor of the head size).
// Grid (threads for ROW * BITS / 32 words, tokens): one word per thread; GROUP * BITS / 32 lanes share a group.
// Per group: bias = smallest element, scale = (largest - smallest) / (2^BITS - 1), both rounded to T, 1 for a constant
// group; code = round half to even((x - bias) / scale), clamped.
// Traffic: reads each row once; writes BITS / 8 bytes per element and two T per group.

// body
  constexpr uint PER_WORD = 32 / BITS;
  constexpr uint WORDS = ROW / PER_WORD;
  constexpr uint LANES = GROUP / PER_WORD;
  uint word = thread_position_in_grid.x;
  uint token = thread_position_in_grid.y;
  uint lane = thread_index_in_simdgroup;
  if (word == 0 && token == 0) fence[0] = fence_in[0] + 1;
  int slot = slots[token];
  // Threads past the row repeat its last word: every lane takes part in the shuffles.
  uint source_word = word < WORDS ? word : WORDS - 1;
  float elements[PER_WORD];
  float low = INFINITY;
  float high = -INFINITY;
  for (uint i = 0; i < PER_WORD; i += 4) {
    float4 four = float4(*(const device vec<T, 4>*)(new_rows + size_t(token) * ROW + source_word * PER_WORD + i));
    for (uint j = 0; j < 4; j++) {
      elements[i + j] = four[j];
      low = min(low, four[j]);
      high = max(high, four[j]);
    }
  }
  for (uint step = 1; step < LANES; step *= 2) {
    low = min(low, simd_shuffle_xor(low, step));
    high = max(high, simd_shuffle_xor(high, step));
  }
  constexpr float TOP = float((1 << BITS) - 1);
  T bias = T(low);
  T scale = T((high - low) / TOP);
  if (float(scale) == 0.0f) scale = T(1.0f);
  uint packed = 0;
  for (uint i = 0; i < PER_WORD; i++) {
    float code = clamp(rint((elements[i] - float(bias)) / float(scale)), 0.0f, TOP);
    packed |= uint(code) << (i * BITS);
  }
  if (slot >= 0 && word < WORDS) {
    const_cast<device uint32_t*>(codes)[size_t(slot) * WORDS + word] = packed;
    if (lane % LANES == 0) {
      size_t group = (size_t(slot) * ROW + word * PER_WORD) / GROUP;
      const_cast<device T*>(scales)[group] = scale;
      const_cast<device T*>(biases)[group] = bias;
    }
  }
