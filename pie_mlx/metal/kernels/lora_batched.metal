// lora_batched: the low-rank addition of every row's own adapter, in one launch.
//
// inputs: rows_in T, a_stack T, b_stack T, adapter_scale float32, segment_rows int32, segment_slot int32
// outputs: delta T
//
// rows_in [tokens, IN]; a_stack [adapters, IN, RANK]; b_stack [adapters, RANK, OUT]; adapter_scale [adapters];
// segment_rows [segments, ROWS] rows that share an adapter, -1 for none; segment_slot [segments], 0 = no adapter.
// delta [tokens, OUT] = rows_in A B scale; zero for slot 0.
// Template: T, IN, OUT, RANK (a power of two up to 64), ROWS (at most 8), OUT_BLOCK.
// Grid (segments * 256, blocks of OUT_BLOCK outputs).
// Traffic: A once per segment and block, B once per segment, rows and delta once.

// body
  constexpr uint THREADS = 256;
  constexpr uint COLUMNS = THREADS / RANK;
  threadgroup float partial[THREADS * ROWS];
  threadgroup float hidden[ROWS * RANK];
  uint thread_index = thread_index_in_threadgroup;
  uint segment = threadgroup_position_in_grid.x;
  uint first_out = threadgroup_position_in_grid.y * OUT_BLOCK;
  uint last_out = min(uint(OUT), first_out + OUT_BLOCK);
  int slot = segment_slot[segment];
  int row[ROWS];
  for (uint r = 0; r < ROWS; r++) row[r] = segment_rows[segment * ROWS + r];
  if (slot == 0) {
    for (uint r = 0; r < ROWS; r++)
      for (uint o = first_out + thread_index; row[r] >= 0 && o < last_out; o += THREADS)
        delta[size_t(row[r]) * OUT + o] = T(0.0f);
    return;
  }

  float sums[ROWS];
  for (uint r = 0; r < ROWS; r++) sums[r] = 0.0f;
  uint rank = thread_index % RANK;
  for (uint i = thread_index / RANK; i < IN; i += COLUMNS) {
    float weight = float(a_stack[(size_t(slot) * IN + i) * RANK + rank]);
    for (uint r = 0; r < ROWS; r++)
      if (row[r] >= 0) sums[r] += float(rows_in[size_t(row[r]) * IN + i]) * weight;
  }
  for (uint r = 0; r < ROWS; r++) partial[r * THREADS + thread_index] = sums[r];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = thread_index; i < ROWS * RANK; i += THREADS) {
    float sum = 0.0f;
    for (uint c = 0; c < COLUMNS; c++) sum += partial[i / RANK * THREADS + c * RANK + i % RANK];
    hidden[i] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float scale = adapter_scale[slot];
  for (uint o = first_out + thread_index; o < last_out; o += THREADS) {
    float outs[ROWS];
    for (uint r = 0; r < ROWS; r++) outs[r] = 0.0f;
    for (uint j = 0; j < RANK; j++) {
      float weight = float(b_stack[(size_t(slot) * RANK + j) * OUT + o]);
      for (uint r = 0; r < ROWS; r++) outs[r] += hidden[r * RANK + j] * weight;
    }
    for (uint r = 0; r < ROWS; r++)
      if (row[r] >= 0) delta[size_t(row[r]) * OUT + o] = T(outs[r] * scale);
  }
