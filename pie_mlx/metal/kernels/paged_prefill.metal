// paged_prefill: attention of tiles of query rows over the pages of their context, with matrix products.
//
// uses: rows.metal, softmax.metal
// inputs: queries T, k_pool T|uint32, v_pool T|uint32
// inputs: tables int32, window_first int32, window_rows int32, row_seq int32, row_len int32
// inputs: sinks float32, mask_bits uint32, row_mask int32, score_scale float32, score_cap float32, fence int32
// outputs: result T, done int32
//
// Arrays as in paged_attention; a window is a tile of at most BQ rows of one context. result [rows, HK * G, DV].
// Template: T, DK, DV (multiples of 8), HK, G, P, BQ (rows of a tile), BK (keys of a tile), WINDOW, BITS, GROUP, SINKS,
// CAPPED, MASKED.
// Grid (tiles * BQ / 8 * 32, HK * G): one threadgroup per tile and query head, one SIMD group per 8 rows. Keys and
// values of BK slots at a time go through threadgroup memory; scores and results stay in registers.
// A lane holds two neighbours of one row of every 8x8 matrix; lanes that differ in bits 0 and 3 hold the same row.
// Traffic: queries and results once; the keys that any row of the tile sees once per tile and query head.

inline void load_matrix(thread simdgroup_float8x8& matrix, float left, float right) {
  matrix.thread_elements()[0] = left;
  matrix.thread_elements()[1] = right;
}

// body
  constexpr uint SIMDS = BQ / 8;
  constexpr uint THREADS = SIMDS * 32;
  constexpr uint K_FOURS = DK / 4;
  constexpr uint V_FOURS = DV / 4;
  constexpr uint KEY_MATRICES = BK / 8;
  constexpr uint WIDEST = DK > DV ? DK : DV;
  threadgroup vec<T, 4> query_tile[BQ * K_FOURS];
  threadgroup vec<T, 4> page_tile[BK * WIDEST / 4];

  uint lane = thread_index_in_simdgroup;
  uint simd = simdgroup_index_in_threadgroup;
  uint thread_index = thread_index_in_threadgroup;
  uint tile = threadgroup_position_in_grid.x;
  uint query_head = threadgroup_position_in_grid.y;
  uint head = query_head / G;
  if (thread_index == 0 && tile == 0 && query_head == 0) done[0] = fence[0] + 1;

  uint first_row = window_first[tile];
  uint rows = window_rows[tile];
  uint begin = 0xFFFFFFFFu;
  uint end = 0;
  for (uint r = 0; r < rows; r++) {
    uint length = row_len[first_row + r];
    begin = min(begin, first_visible(length, WINDOW));
    end = max(end, length);
  }
  for (uint i = thread_index; i < BQ * K_FOURS; i += THREADS) {
    uint row = i / K_FOURS;
    vec<T, 4> four = vec<T, 4>(T(0.0f));
    if (row < rows)
      four = *(const device vec<T, 4>*)(queries + ((size_t(first_row) + row) * (HK * G) + query_head) * DK + (i % K_FOURS) * 4);
    query_tile[i] = four;
  }

  uint matrix_row = ((lane / 4) & 4) + (lane / 2) % 4;
  uint matrix_column = ((lane / 4) & 2) * 2 + (lane % 2) * 2;
  uint row = simd * 8 + matrix_row;
  uint row_end = row < rows ? row_len[first_row + row] : 0;
  uint row_begin = first_visible(row_end, WINDOW);
  int line = MASKED && row < rows ? row_mask[first_row + row] : -1;
  uint mask_words = MASKED ? mask_bits_shape[1] : 0;
  size_t table = size_t(row_seq[first_row]) * tables_shape[1];
  simdgroup_float8x8 values[DV / 8];
  UNROLLED for (uint d = 0; d < DV / 8; d++) load_matrix(values[d], 0.0f, 0.0f);
  float peak = -INFINITY;
  float total = 0.0f;

  for (uint base = begin / BK * BK; base < end; base += BK) {
    for (uint i = thread_index; i < BK * K_FOURS; i += THREADS) {
      uint key = base + i / K_FOURS;
      float4 four = float4(0.0f);
      if (key >= begin && key < end) {
        size_t slot = (size_t(tables[table + key / P]) * P + key % P) * HK + head;
        four = load_four<DK, BITS, GROUP>(k_pool, slot, (i % K_FOURS) * 4);
      }
      page_tile[i] = vec<T, 4>(four);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    simdgroup_float8x8 scores[KEY_MATRICES];
    UNROLLED for (uint k = 0; k < KEY_MATRICES; k++) load_matrix(scores[k], 0.0f, 0.0f);
    for (uint d = 0; d < DK; d += 8) {
      simdgroup_float8x8 left;
      uint column = d + matrix_column;
      vec<T, 4> query = query_tile[row * K_FOURS + column / 4];
      load_matrix(left, float(query[column % 4]), float(query[column % 4 + 1]));
      UNROLLED for (uint k = 0; k < KEY_MATRICES; k++) {
        // Transposed: this lane's two columns are two keys.
        simdgroup_float8x8 right;
        uint element = d + matrix_row;
        uint key = k * 8 + matrix_column;
        load_matrix(
            right,
            float(page_tile[key * K_FOURS + element / 4][element % 4]),
            float(page_tile[(key + 1) * K_FOURS + element / 4][element % 4]));
        simdgroup_multiply_accumulate(scores[k], left, right, scores[k]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint i = thread_index; i < BK * V_FOURS; i += THREADS) {
      uint key = base + i / V_FOURS;
      float4 four = float4(0.0f);
      if (key >= begin && key < end) {
        size_t slot = (size_t(tables[table + key / P]) * P + key % P) * HK + head;
        four = load_four<DV, BITS, GROUP>(v_pool, slot, (i % V_FOURS) * 4);
      }
      page_tile[i] = vec<T, 4>(four);
    }
    float top = peak;
    UNROLLED for (uint k = 0; k < KEY_MATRICES; k++) {
      UNROLLED for (uint j = 0; j < 2; j++) {
        uint key = base + k * 8 + matrix_column + j;
        float score = scores[k].thread_elements()[j] * score_scale;
        if (CAPPED) score = score_cap * tanh(score / score_cap);
        bool visible = key >= row_begin && key < row_end;
        if (MASKED) visible = visible && mask_allows(mask_bits, mask_words, line, key);
        score = visible ? score : -INFINITY;
        scores[k].thread_elements()[j] = score;
        top = max(top, score);
      }
    }
    top = max(top, simd_shuffle_xor(top, 1));
    top = max(top, simd_shuffle_xor(top, 8));
    float shrink = scaled_weight(peak, top);
    peak = top;
    total *= shrink;
    UNROLLED for (uint k = 0; k < KEY_MATRICES; k++) {
      UNROLLED for (uint j = 0; j < 2; j++) {
        float weight = scaled_weight(scores[k].thread_elements()[j], top);
        scores[k].thread_elements()[j] = weight;
        total += weight;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    UNROLLED for (uint d = 0; d < DV / 8; d++) {
      values[d].thread_elements()[0] *= shrink;
      values[d].thread_elements()[1] *= shrink;
      uint column = d * 8 + matrix_column;
      UNROLLED for (uint k = 0; k < KEY_MATRICES; k++) {
        simdgroup_float8x8 right;
        vec<T, 4> value = page_tile[(k * 8 + matrix_row) * V_FOURS + column / 4];
        load_matrix(right, float(value[column % 4]), float(value[column % 4 + 1]));
        simdgroup_multiply_accumulate(values[d], scores[k], right, values[d]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  total += simd_shuffle_xor(total, 1);
  total += simd_shuffle_xor(total, 8);
  float final_top = SINKS ? max(peak, sinks[query_head]) : peak;
  float share = scaled_weight(peak, final_top);
  float divisor = total * share;
  if (SINKS) divisor += exp(sinks[query_head] - final_top);
  if (row < rows) {
    size_t start = ((size_t(first_row) + row) * (HK * G) + query_head) * DV;
    UNROLLED for (uint d = 0; d < DV / 8; d++)
      UNROLLED for (uint j = 0; j < 2; j++) {
        float value = values[d].thread_elements()[j] * share;
        result[start + d * 8 + matrix_column + j] = T(divisor > 0.0f ? value / divisor : 0.0f);
      }
  }
