// sample_rows: one token per row of logits, every row with its own temperature and filters, without a sort.
//
// inputs: logits float32, temperature float32, top_k int32, top_p float32, min_p float32, random_numbers float32
// inputs: mask_bits uint32, row_mask int32
// outputs: token uint32, logprob float32
//
// logits [rows, vocabulary]; temperature .. random_numbers [rows]; mask_bits [masks, words], bit i of word i / 32; row_mask
// [rows], -1: none. token [rows], 0xFFFFFFFF when no token is allowed; logprob [rows]: natural log-softmax of the token
// in the plain logits at temperature 1.
// Template: SIMDS, MASKED. Grid (rows * SIMDS * 32): one threadgroup per row.
//
// The energy of a token is (largest allowed logit - logit) / temperature in units of 2^-27, its mass e^-energy over the
// sum of all, in units of 2^-31: integers, so that sums do not depend on order. Tokens of energy 22 and more have no mass
// and are never drawn. top_k and top_p keep a prefix of the tokens by falling mass: a radix selection over the energy
// finds its end, ties by lower id. The draw walks the kept mass in order of id.
// Traffic: the logits at most seven times; twice and the walk without top_k and top_p.

constant constexpr float ENERGY_UNITS = 134217728.0f;
constant constexpr float MASS_UNITS = 2147483648.0f;
constant constexpr float ENERGY_LIMIT = 22.0f;
constant constexpr uint NO_TOKEN = 0xFFFFFFFFu;

inline bool token_allowed(const device uint32_t* mask_bits, uint words, int line, uint id) {
  return line < 0 || ((mask_bits[size_t(line) * words + id / 32] >> (id % 32)) & 1);
}

inline float energy_weight(uint energy) { return exp(-float(energy) / ENERGY_UNITS); }
inline uint energy_mass(uint energy, float sum) { return uint(energy_weight(energy) / sum * MASS_UNITS + 0.5f); }

// body
  constexpr uint THREADS = SIMDS * 32;
  threadgroup float group_tops[SIMDS];
  threadgroup uint group_ids[SIMDS];
  threadgroup float group_plain_tops[SIMDS];
  threadgroup float group_plain_sums[SIMDS];
  threadgroup float group_sums[SIMDS];
  threadgroup atomic_uint counts[256];
  threadgroup atomic_uint masses[256];
  threadgroup uint selection[3];
  threadgroup uint group_mass[SIMDS];
  threadgroup uint group_ties[SIMDS];

  uint row = threadgroup_position_in_grid.x;
  uint thread_index = thread_index_in_threadgroup;
  uint lane = thread_index_in_simdgroup;
  uint simd = simdgroup_index_in_threadgroup;
  uint vocabulary = logits_shape[1];
  size_t start = size_t(row) * vocabulary;
  int line = MASKED ? row_mask[row] : -1;
  uint words = MASKED ? mask_bits_shape[1] : 0;

  // The largest allowed logit, and the plain log-softmax's sum.
  float best = -INFINITY;
  uint best_id = NO_TOKEN;
  float plain_top = -INFINITY;
  float plain_sum = 0.0f;
  for (uint id = thread_index; id < vocabulary; id += THREADS) {
    float logit = logits[start + id];
    float larger = max(plain_top, logit);
    if (larger > -INFINITY) plain_sum = plain_sum * exp(plain_top - larger) + exp(logit - larger);
    plain_top = larger;
    if (logit > best && token_allowed(mask_bits, words, line, id)) {
      best = logit;
      best_id = id;
    }
  }
  float simd_best = simd_max(best);
  uint simd_id = simd_min(best == simd_best ? best_id : NO_TOKEN);
  float simd_plain = simd_max(plain_top);
  float simd_plain_sum = simd_sum(plain_top > -INFINITY ? plain_sum * exp(plain_top - simd_plain) : 0.0f);
  if (lane == 0) {
    group_tops[simd] = simd_best;
    group_ids[simd] = simd_id;
    group_plain_tops[simd] = simd_plain;
    group_plain_sums[simd] = simd_plain_sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float top = -INFINITY;
  float plain = -INFINITY;
  for (uint s = 0; s < SIMDS; s++) {
    top = max(top, group_tops[s]);
    plain = max(plain, group_plain_tops[s]);
  }
  uint top_id = NO_TOKEN;
  float normaliser = 0.0f;
  for (uint s = 0; s < SIMDS; s++) {
    if (group_tops[s] == top) top_id = min(top_id, group_ids[s]);
    if (group_plain_tops[s] > -INFINITY) normaliser += group_plain_sums[s] * exp(group_plain_tops[s] - plain);
  }
  float heat = temperature[row];
  if (heat <= 1e-5f || top_id == NO_TOKEN) {
    if (thread_index == 0) {
      token[row] = top_id;
      logprob[row] = top_id == NO_TOKEN ? -INFINITY : top - plain - log(normaliser);
    }
    return;
  }

  float sum = 0.0f;
  for (uint id = thread_index; id < vocabulary; id += THREADS)
    if (token_allowed(mask_bits, words, line, id)) sum += exp((logits[start + id] - top) / heat);
  sum = simd_sum(sum);
  if (lane == 0) group_sums[simd] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;
  for (uint s = 0; s < SIMDS; s++) sum += group_sums[s];

  float least = min_p[row];
  uint last_energy = NO_TOKEN;
  uint ties_kept = 0;
  if (top_k[row] > 0 || top_p[row] < 1.0f) {
    uint count_limit = top_k[row] > 0 ? uint(top_k[row]) : NO_TOKEN;
    uint mass_limit = top_p[row] < 1.0f ? max(1u, uint(top_p[row] * MASS_UNITS)) : NO_TOKEN;
    uint prefix = 0;
    uint count_before = 0;
    uint mass_before = 0;
    bool everything = false;
    for (int shift = 24; shift >= 0 && !everything; shift -= 8) {
      for (uint bucket = thread_index; bucket < 256; bucket += THREADS) {
        atomic_store_explicit(&counts[bucket], 0u, memory_order_relaxed);
        atomic_store_explicit(&masses[bucket], 0u, memory_order_relaxed);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint id = thread_index; id < vocabulary; id += THREADS) {
        float distance = (top - logits[start + id]) / heat;
        if (distance < ENERGY_LIMIT && token_allowed(mask_bits, words, line, id)) {
          uint energy = uint(distance * ENERGY_UNITS);
          // What min_p drops lies past what it keeps: it can wait for the draw.
          if (shift == 24 || (energy >> (shift + 8)) == prefix) {
            atomic_fetch_add_explicit(&counts[(energy >> shift) & 255], 1u, memory_order_relaxed);
            atomic_fetch_add_explicit(&masses[(energy >> shift) & 255], energy_mass(energy, sum), memory_order_relaxed);
          }
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (simd == 0) {
        // Eight buckets per lane; the first lane in which a limit is reached looks at its own buckets one by one.
        uint lane_count = 0;
        uint lane_mass = 0;
        for (uint b = lane * 8; b < lane * 8 + 8; b++) {
          lane_count += atomic_load_explicit(&counts[b], memory_order_relaxed);
          lane_mass += atomic_load_explicit(&masses[b], memory_order_relaxed);
        }
        uint count = count_before + simd_prefix_exclusive_sum(lane_count);
        uint mass = mass_before + simd_prefix_exclusive_sum(lane_mass);
        bool reached = count + lane_count >= count_limit || mass + lane_mass >= mass_limit;
        uint first = simd_min(reached ? lane : 32u);
        if (first == 32 && lane == 0) selection[0] = 256;
        if (lane == first) {
          uint bucket = lane * 8;
          uint bucket_count = atomic_load_explicit(&counts[bucket], memory_order_relaxed);
          uint bucket_mass = atomic_load_explicit(&masses[bucket], memory_order_relaxed);
          while (count + bucket_count < count_limit && mass + bucket_mass < mass_limit) {
            count += bucket_count;
            mass += bucket_mass;
            bucket++;
            bucket_count = atomic_load_explicit(&counts[bucket], memory_order_relaxed);
            bucket_mass = atomic_load_explicit(&masses[bucket], memory_order_relaxed);
          }
          selection[0] = bucket;
          selection[1] = count;
          selection[2] = mass;
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      everything = selection[0] == 256;
      if (!everything) {
        prefix = (prefix << 8) | selection[0];
        count_before = selection[1];
        mass_before = selection[2];
      }
    }
    if (!everything) {
      last_energy = prefix;
      uint each = max(1u, energy_mass(prefix, sum));
      uint by_mass = mass_limit == NO_TOKEN ? NO_TOKEN : (mass_limit - mass_before + each - 1) / each;
      ties_kept = min(count_limit - count_before, by_mass);
    }
  }

  // Kept mass of every SIMD group's stretch of ids.
  uint stretch = (vocabulary + THREADS - 1) / THREADS * 32;
  uint begin = min(vocabulary, simd * stretch);
  uint end = min(vocabulary, begin + stretch);
  uint kept = 0;
  uint ties = 0;
  for (uint id = begin + lane; id < end; id += 32) {
    float distance = (top - logits[start + id]) / heat;
    if (distance < ENERGY_LIMIT && token_allowed(mask_bits, words, line, id)) {
      uint energy = uint(distance * ENERGY_UNITS);
      if (energy_weight(energy) >= least) {
        if (energy < last_energy) kept += energy_mass(energy, sum);
        if (energy == last_energy) ties++;
      }
    }
  }
  kept = simd_sum(kept);
  ties = simd_sum(ties);
  if (lane == 0) {
    group_mass[simd] = kept;
    group_ties[simd] = ties;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint tie_mass = last_energy == NO_TOKEN ? 0 : energy_mass(last_energy, sum);
  uint whole = 0;
  uint before = 0;
  uint ties_before = 0;
  uint ties_seen = 0;
  for (uint s = 0; s < SIMDS; s++) {
    if (s == simd) {
      before = whole;
      ties_before = ties_seen;
    }
    uint left = ties_kept > ties_seen ? ties_kept - ties_seen : 0;
    whole += group_mass[s] + min(left, group_ties[s]) * tie_mass;
    ties_seen += group_ties[s];
  }
  uint target = uint((ulong(random_numbers[row] * 8388608.0f) * whole) >> 23);
  uint after = before + kept + min(ties_kept > ties_before ? ties_kept - ties_before : 0u, ties) * tie_mass;
  if (target < before || target >= after) return;
  uint running = before;
  uint rank = ties_before;
  for (uint base = begin; base < end; base += 32) {
    uint id = base + lane;
    uint mass = 0;
    uint tied = 0;
    if (id < end) {
      float distance = (top - logits[start + id]) / heat;
      if (distance < ENERGY_LIMIT && token_allowed(mask_bits, words, line, id)) {
        uint energy = uint(distance * ENERGY_UNITS);
        bool likely = energy_weight(energy) >= least;
        tied = likely && energy == last_energy ? 1 : 0;
        if (likely && energy < last_energy) mass = energy_mass(energy, sum);
      }
    }
    uint tie_rank = rank + simd_prefix_exclusive_sum(tied);
    if (tied == 1 && tie_rank < ties_kept) mass = tie_mass;
    uint reach = running + simd_prefix_inclusive_sum(mass);
    if (target >= reach - mass && target < reach) {
      token[row] = id;
      logprob[row] = logits[start + id] - plain - log(normaliser);
    }
    rank += simd_sum(tied);
    running = simd_max(reach);
    if (running > target) return;
  }
