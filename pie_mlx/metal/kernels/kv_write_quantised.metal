// kv_write_quantised: new keys and values quantised into their slots of pools of codes, in place.
//
// inputs: k_new T, v_new T, k_pool uint32, v_pool uint32, slots int32, fence_in int32
// outputs: fence int32
// mutates: k_pool, v_pool
//
// k_new [tokens, K_ROW] and v_new [tokens, V_ROW] with K_ROW = heads * DK and V_ROW = heads * DV; pools [slots, heads,
// words] as in rows.metal; slots [tokens], -1 for a padding token; fences [1].
// Template: T, DK, DV, K_ROW, V_ROW, BITS (8 or 4), GROUP (32 or 64, a divisor of DK and DV).
// Grid (threads for max(K_ROW, V_ROW) * BITS / 32 words, tokens): one word of codes of K and of V per thread; GROUP * BITS
// / 32 lanes share a group.
// Per group: bias = smallest element, scale = (largest - smallest) / (2^BITS - 1), both rounded to float16, 1 for a
// constant group; code = round half to even((x - bias) / scale), clamped.
// Traffic: reads each row once; writes BITS / 8 bytes per element and 4 bytes per group.

constant constexpr float LARGEST_HALF = 65504.0f;

// The codes of this lane's elements as a word, and scale and bias of its group. Every lane takes part in the shuffles.
template <int BITS, int GROUP, typename T>
inline uint quantised(const device T* elements, thread uint& pair) {
  constexpr uint PER_WORD = 32 / BITS;
  float mine[PER_WORD];
  float low = INFINITY;
  float high = -INFINITY;
  for (uint i = 0; i < PER_WORD; i += 4) {
    float4 four = float4(*(const device vec<T, 4>*)(elements + i));
    for (uint j = 0; j < 4; j++) {
      mine[i + j] = four[j];
      low = min(low, four[j]);
      high = max(high, four[j]);
    }
  }
  for (uint step = 1; step < GROUP / PER_WORD; step *= 2) {
    low = min(low, simd_shuffle_xor(low, step));
    high = max(high, simd_shuffle_xor(high, step));
  }
  constexpr float TOP = float((1 << BITS) - 1);
  half bias = half(clamp(low, -LARGEST_HALF, LARGEST_HALF));
  half scale = half(min((high - low) / TOP, LARGEST_HALF));
  if (float(scale) == 0.0f) scale = half(1.0f);
  pair = uint(as_type<ushort>(scale)) | (uint(as_type<ushort>(bias)) << 16);
  uint packed = 0;
  for (uint i = 0; i < PER_WORD; i++) {
    float code = clamp(rint((mine[i] - float(bias)) / float(scale)), 0.0f, TOP);
    packed |= uint(code) << (i * BITS);
  }
  return packed;
}

// The first lane of a group stores its scale and bias.
template <int SIZE, int ROW, int BITS, int GROUP>
inline void store(const device uint32_t* pool, size_t slot, uint word, uint codes, uint pair) {
  constexpr uint HEAD_WORDS = SIZE * BITS / 32;
  constexpr uint LANES = GROUP * BITS / 32;
  uint within = word % HEAD_WORDS;
  device uint32_t* head = const_cast<device uint32_t*>(pool) + slot * (ROW * BITS / 32 + ROW / GROUP) +
      word / HEAD_WORDS * (HEAD_WORDS + SIZE / GROUP);
  head[within] = codes;
  if (within % LANES == 0) head[HEAD_WORDS + within / LANES] = pair;
}

// body
  constexpr uint PER_WORD = 32 / BITS;
  constexpr uint K_WORDS = K_ROW / PER_WORD;
  constexpr uint V_WORDS = V_ROW / PER_WORD;
  uint word = thread_position_in_grid.x;
  uint token = thread_position_in_grid.y;
  if (word == 0 && token == 0) fence[0] = fence_in[0] + 1;
  int slot = slots[token];
  uint k_pair;
  uint v_pair;
  // Threads past a row repeat its last word.
  uint k_codes = quantised<BITS, GROUP>(k_new + size_t(token) * K_ROW + min(word, K_WORDS - 1) * PER_WORD, k_pair);
  uint v_codes = quantised<BITS, GROUP>(v_new + size_t(token) * V_ROW + min(word, V_WORDS - 1) * PER_WORD, v_pair);
  if (slot >= 0 && word < K_WORDS) store<DK, K_ROW, BITS, GROUP>(k_pool, slot, word, k_codes, k_pair);
  if (slot >= 0 && word < V_WORDS) store<DV, V_ROW, BITS, GROUP>(v_pool, slot, word, v_codes, v_pair);
