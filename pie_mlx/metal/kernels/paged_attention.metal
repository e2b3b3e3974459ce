// paged_attention: attention of windows of query rows over the pages of their contexts, split over the keys.
//
// uses: rows.metal, softmax.metal
// inputs: queries T, k_pool T|uint32, v_pool T|uint32
// inputs: tables int32, window_first int32, window_rows int32, row_seq int32, row_len int32
// inputs: sinks float32, mask_bits uint32, row_mask int32, score_scale float32, score_cap float32, fence int32
// outputs: result T|float32, peaks float32, sums float32, done int32
// sparse: result, peaks, sums
//
// queries [rows, HK * BLOCKS * G, DK]; pools [pages, P, HK, D] of T or of codes (rows.metal); tables [contexts, max pages];
// window w is the rows window_first[w] .. + window_rows[w] (at most ROWS, of one context); row_seq, row_len [rows]:
// table line and visible keys, own key included; sinks [HK * BLOCKS * G]; mask_bits [masks, words], row_mask [rows] (-1: none).
// LATENT: a key is a row of k_pool [.., DV] and one of v_pool [.., DK - DV]; the value is the row of k_pool.
// Template: T, OUT (type of the result), DK, DV, HK, BLOCKS, G, P, ROWS, HEADS (vectors per SIMD group, at most 8), HEAD_GROUPS,
// KEY_GROUPS, PARTITION (keys, a multiple of 32), WINDOW (0: none), BITS, GROUP, SINKS, CAPPED, MASKED, DIRECT, LATENT, SCORED.
// Grid (windows * threads, HK * BLOCKS, partitions): a threadgroup serves all ROWS * G vectors of a block of query heads, so
// that every key and value is fetched once per block; most KV heads are one block. Its SIMD groups divide the vectors HEAD_GROUPS ways and the keys KEY_GROUPS ways, in tiles of
// 32 keys; tile t belongs to key group t % KEY_GROUPS whatever else is in the batch.
// DIRECT (one partition): result [rows, query heads, DV] in T. Otherwise result [rows, query heads, partitions, DV], peaks
// and sums [rows, query heads, partitions] in float32 for the merge; parts without keys stay undefined.
// SCORED: peaks and sums go on with [rows, query heads, strips], what each strip of min(P, 32) keys has of the softmax: its
// sum against a peak of its own. Strips that the window of the row's neighbours does not reach stay undefined.
// Traffic: visible keys and values once per window, queries, outputs, 4 bytes of table per page and KV head.

// body
  constexpr uint VECTORS = HEADS * HEAD_GROUPS;
  constexpr uint SIMDS = HEAD_GROUPS * KEY_GROUPS;
  constexpr uint K_FOURS = DK / 4;
  constexpr uint V_FOURS = DV / 4;
  constexpr uint K_STEPS = (K_FOURS + 7) / 8;
  constexpr uint V_LANES = V_FOURS > 16 ? 32 : V_FOURS > 8 ? 16 : 8;
  constexpr uint V_STEPS = (V_FOURS + V_LANES - 1) / V_LANES;
  constexpr uint V_KEYS = 32 / V_LANES;
  threadgroup vec<T, 4> query_tile[VECTORS * DK / 4];
  threadgroup float weights[SIMDS * HEADS * 32];
  threadgroup float group_peaks[SIMDS * HEADS];
  threadgroup float group_sums[SIMDS * HEADS];
  threadgroup float4 exchange[(KEY_GROUPS > 1 ? KEY_GROUPS - 1 : 1) * HEAD_GROUPS * V_FOURS];

  uint lane = thread_index_in_simdgroup;
  uint simd = simdgroup_index_in_threadgroup;
  uint thread_index = thread_index_in_threadgroup;
  uint window = threadgroup_position_in_grid.x;
  uint block = threadgroup_position_in_grid.y;
  uint head = block / BLOCKS;
  uint part = threadgroup_position_in_grid.z;
  uint parts = threadgroups_per_grid.z;
  uint head_group = simd / KEY_GROUPS;
  uint key_group = simd % KEY_GROUPS;
  if (thread_index == 0 && window == 0 && block == 0 && part == 0) done[0] = fence[0] + 1;

  uint first_row = window_first[window];
  uint rows = window_rows[window];
  uint low = 0xFFFFFFFFu;
  uint high = 0;
  for (uint r = 0; r < rows; r++) {
    uint length = row_len[first_row + r];
    low = min(low, first_visible(length, WINDOW));
    high = max(high, length);
  }
  uint begin = max(low, part * PARTITION);
  uint end = min(high, (part + 1) * PARTITION);
  if (!DIRECT && begin >= end) return;

  for (uint i = thread_index; i < VECTORS * K_FOURS; i += SIMDS * 32) {
    uint vector = i / K_FOURS;
    uint row = vector / G;
    vec<T, 4> four = vec<T, 4>(T(0.0f));
    if (row < rows) {
      size_t query = (size_t(first_row + row) * (HK * BLOCKS) + block) * G + vector % G;
      four = *(const device vec<T, 4>*)(queries + query * DK + (i % K_FOURS) * 4);
    }
    query_tile[i] = four;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  uint row_end[HEADS];
  uint row_begin[HEADS];
  int line[HEADS];
  float peak[HEADS];
  float total[HEADS];
  float4 values[HEADS * V_STEPS];
  UNROLLED for (uint h = 0; h < HEADS; h++) {
    uint row = (head_group * HEADS + h) / G;
    row_end[h] = row < rows ? row_len[first_row + row] : 0;
    row_begin[h] = first_visible(row_end[h], WINDOW);
    line[h] = MASKED && row < rows ? row_mask[first_row + row] : -1;
    peak[h] = -INFINITY;
    total[h] = 0.0f;
    UNROLLED for (uint i = 0; i < V_STEPS; i++) values[h * V_STEPS + i] = float4(0.0f);
  }
  uint mask_words = MASKED ? mask_bits_shape[1] : 0;
  size_t table = size_t(row_seq[first_row]) * tables_shape[1];
  constexpr uint STRIP = P < 32 ? P : 32;
  uint strips = tables_shape[1] * (P / STRIP);
  size_t strips_start = DIRECT ? 0 : size_t(queries_shape[0]) * (HK * BLOCKS * G) * parts;
  threadgroup float* mine = weights + simd * HEADS * 32;

  uint tile = begin / 32;
  tile += (key_group + KEY_GROUPS - tile % KEY_GROUPS) % KEY_GROUPS;
  for (; tile * 32 < end; tile += KEY_GROUPS) {
    uint base = tile * 32;
    uint wanted = 0xFFFFFFFFu;
    if (MASKED) {
      wanted = 0;
      for (uint r = 0; r < rows; r++) wanted |= mask_word(mask_bits, mask_words, row_mask[first_row + r], tile);
    }
    if (wanted == 0 && !SCORED) continue;

    // Scores: 8 lanes share a key.
    for (uint step = 0; step < 8; step++) {
      uint offset = step * 4 + lane / 8;
      uint key = base + offset;
      float4 fours[K_STEPS];
      UNROLLED for (uint i = 0; i < K_STEPS; i++) fours[i] = float4(0.0f);
      if (key >= begin && key < end && ((wanted >> offset) & 1)) {
        size_t row = (size_t(tables[table + key / P]) * P + key % P) * HK + head;
        UNROLLED for (uint i = 0; i < K_STEPS; i++) {
          uint four = lane % 8 + i * 8;
          if (LATENT && four >= V_FOURS && four < K_FOURS)
            fours[i] = load_four<DK - DV, BITS, GROUP>(v_pool, row, (four - V_FOURS) * 4);
          else if (four < K_FOURS)
            fours[i] = load_four<LATENT ? DV : DK, BITS, GROUP>(k_pool, row, four * 4);
        }
      }
      for (uint h = 0; h < HEADS; h++) {
        float score = 0.0f;
        uint query = (head_group * HEADS + h) * K_FOURS;
        UNROLLED for (uint i = 0; i < K_STEPS; i++) {
          uint four = lane % 8 + i * 8;
          if (four < K_FOURS) score += dot(fours[i], float4(query_tile[query + four]));
        }
        score += simd_shuffle_xor(score, 1);
        score += simd_shuffle_xor(score, 2);
        score += simd_shuffle_xor(score, 4);
        if (lane % 8 == h) mine[h * 32 + offset] = score;
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);

    // Weights: a lane per key.
    uint key = base + lane;
    UNROLLED for (uint h = 0; h < HEADS; h++) {
      float score = mine[h * 32 + lane] * score_scale;
      if (CAPPED) score = score_cap * tanh(score / score_cap);
      bool visible = key >= row_begin[h] && key < row_end[h];
      if (MASKED) visible = visible && mask_allows(mask_bits, mask_words, line[h], key);
      if (!visible) score = -INFINITY;
      float top = max(peak[h], simd_max(score));
      float shrink = scaled_weight(peak[h], top);
      float weight = scaled_weight(score, top);
      peak[h] = top;
      total[h] = total[h] * shrink + weight;
      UNROLLED for (uint i = 0; i < V_STEPS; i++) values[h * V_STEPS + i] *= shrink;
      mine[h * 32 + lane] = weight;
      if (SCORED) {
        for (uint apart = 1; apart < STRIP; apart *= 2) weight += simd_shuffle_xor(weight, apart);
        uint vector = head_group * HEADS + h;
        if (lane % STRIP == 0 && key / STRIP < strips && vector / G < rows) {
          size_t query = (size_t(first_row + vector / G) * (HK * BLOCKS) + block) * G + vector % G;
          peaks[strips_start + query * strips + key / STRIP] = top;
          sums[strips_start + query * strips + key / STRIP] = weight;
        }
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);

    // Values: V_LANES lanes share a key.
    for (uint step = 0; step < V_LANES; step++) {
      uint offset = step * V_KEYS + lane / V_LANES;
      uint value_key = base + offset;
      if (value_key >= begin && value_key < end && ((wanted >> offset) & 1)) {
        size_t row = (size_t(tables[table + value_key / P]) * P + value_key % P) * HK + head;
        UNROLLED for (uint i = 0; i < V_STEPS; i++) {
          uint four = lane % V_LANES + i * V_LANES;
          if (four < V_FOURS) {
            float4 loaded = LATENT ? load_four<DV, BITS, GROUP>(k_pool, row, four * 4)
                                   : load_four<DV, BITS, GROUP>(v_pool, row, four * 4);
            UNROLLED for (uint h = 0; h < HEADS; h++) values[h * V_STEPS + i] += loaded * mine[h * 32 + offset];
          }
        }
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }

  // Lanes that held different keys, then SIMD groups that held different tiles.
  UNROLLED for (uint h = 0; h < HEADS; h++) {
    total[h] = simd_sum(total[h]);
    UNROLLED for (uint i = 0; i < V_STEPS; i++)
      for (uint apart = V_LANES; apart < 32; apart *= 2)
        values[h * V_STEPS + i] += simd_shuffle_xor(values[h * V_STEPS + i], apart);
    if (lane == 0) group_peaks[simd * HEADS + h] = peak[h];
    if (lane == 0) group_sums[simd * HEADS + h] = total[h];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  UNROLLED for (uint h = 0; h < HEADS; h++) {
    float top = -INFINITY;
    for (uint k = 0; k < KEY_GROUPS; k++)
      top = max(top, group_peaks[(head_group * KEY_GROUPS + k) * HEADS + h]);
    float sum = 0.0f;
    for (uint k = 0; k < KEY_GROUPS; k++) {
      uint from = (head_group * KEY_GROUPS + k) * HEADS + h;
      sum += group_sums[from] * scaled_weight(group_peaks[from], top);
    }
    float share = scaled_weight(peak[h], top);
    UNROLLED for (uint i = 0; i < V_STEPS; i++) {
      uint four = lane + i * V_LANES;
      values[h * V_STEPS + i] *= share;
      if (key_group > 0 && four < V_FOURS)
        exchange[((key_group - 1) * HEAD_GROUPS + head_group) * V_FOURS + four] = values[h * V_STEPS + i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint vector = head_group * HEADS + h;
    uint row = vector / G;
    if (key_group == 0 && row < rows) {
      uint query_head = block * G + vector % G;
      size_t line_index = size_t(first_row + row) * (HK * BLOCKS * G) + query_head;
      float final_top = SINKS ? max(top, sinks[query_head]) : top;
      float final_share = scaled_weight(top, final_top);
      float divisor = fma(sum, final_share, 0.0f);
      if (SINKS) divisor += exp(sinks[query_head] - final_top);
      UNROLLED for (uint i = 0; i < V_STEPS; i++) {
        uint four = lane + i * V_LANES;
        if (four < V_FOURS) {
          float4 whole = values[h * V_STEPS + i];
          for (uint k = 1; k < KEY_GROUPS; k++)
            whole += exchange[((k - 1) * HEAD_GROUPS + head_group) * V_FOURS + four];
          if (DIRECT) {
            for (uint j = 0; j < 4; j++) {
              float value = fma(whole[j], final_share, 0.0f);
              result[line_index * DV + four * 4 + j] = OUT(divisor > 0.0f ? value / divisor : 0.0f);
            }
          } else {
            for (uint j = 0; j < 4; j++) result[(line_index * parts + part) * DV + four * 4 + j] = OUT(whole[j]);
          }
        }
      }
      if (!DIRECT && lane == 0) {
        peaks[line_index * parts + part] = top;
        sums[line_index * parts + part] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
