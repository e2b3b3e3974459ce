// attention_merge: the parts of paged_attention made one result.
//
// uses: softmax.metal
// inputs: partial float32, peaks float32, sums float32, row_len int32, sinks float32
// outputs: merged T
//
// partial [rows, HQ, parts, DV]; peaks and sums [rows, HQ, parts]; row_len [rows]; sinks [HQ]; merged [rows, HQ, DV].
// Template: T, DV, HQ, PARTITION (keys of a part), WINDOW (0: none), SINKS.
// Grid (threads for DV / 4, rows * HQ): four elements per thread. Parts in which the row has no key are not read.
// Traffic: reads each part once and writes the result.

// body
  uint four = thread_position_in_grid.x;
  uint query = thread_position_in_grid.y;
  uint parts = peaks_shape[2];
  uint length = row_len[query / HQ];
  uint first = first_visible(length, WINDOW) / PARTITION;
  uint last = (length + PARTITION - 1) / PARTITION;
  size_t start = size_t(query) * parts;
  float sink = SINKS ? sinks[query % HQ] : -INFINITY;
  float top = sink;
  for (uint part = first; part < last; part++) top = max(top, peaks[start + part]);
  float divisor = 0.0f;
  float4 whole = float4(0.0f);
  if (four < DV / 4) {
    for (uint part = first; part < last; part++) {
      float share = scaled_weight(peaks[start + part], top);
      divisor = fma(sums[start + part], share, divisor);
      whole = fma(*(const device float4*)(partial + (start + part) * DV + four * 4), float4(share), whole);
    }
    if (SINKS) divisor += exp(sink - top);
    for (uint j = 0; j < 4; j++)
      merged[size_t(query) * DV + four * 4 + j] = T(divisor > 0.0f ? whole[j] / divisor : 0.0f);
  }
