// SIMD-group operations: every lane hands in a value, all meet, every lane computes its result from the 32 values.
#pragma once

enum { OP_SUM, OP_MAX, OP_MIN, OP_SHUFFLE, OP_BROADCAST, OP_PREFIX, OP_VOTE, OP_MATRIX };

// Works on the lane's own stack: its accesses need no tracking.
#define UNTRACKED __attribute__((no_sanitize_thread))

// A butterfly, so that float sums round as pairwise hardware reductions do.
template <typename T, typename F>
UNTRACKED inline T reduce_lanes(int line, int operation, T value, F combine) {
  T values[SIMD_WIDTH];
  emulator_exchange(line, operation, &value, sizeof value, values);
  uint lanes = emulator_lanes();
  for (uint step = 16; step > 0; step /= 2)
    for (uint i = 0; i < step; i++)
      if (i + step < lanes) values[i] = combine(values[i], values[i + step]);
  return values[0];
}

template <typename T>
inline T lane_value(int line, int operation, T value, uint lane) {
  T values[SIMD_WIDTH];
  emulator_exchange(line, operation, &value, sizeof value, values);
  return values[lane % SIMD_WIDTH];
}

template <typename T>
inline T simd_sum_at(int line, T value) {
  return reduce_lanes(line, OP_SUM, value, [](T a, T b) { return T(a + b); });
}
template <typename T>
inline T simd_max_at(int line, T value) {
  return reduce_lanes(line, OP_MAX, value, [](T a, T b) { return a > b ? a : b; });
}
template <typename T>
inline T simd_min_at(int line, T value) {
  return reduce_lanes(line, OP_MIN, value, [](T a, T b) { return a < b ? a : b; });
}
template <typename T>
inline T simd_shuffle_at(int line, T value, uint lane) {
  return lane_value(line, OP_SHUFFLE, value, lane);
}
template <typename T>
inline T simd_shuffle_xor_at(int line, T value, uint mask) {
  return lane_value(line, OP_SHUFFLE, value, emulator_lane() ^ mask);
}
template <typename T>
inline T simd_broadcast_at(int line, T value, uint lane) {
  return lane_value(line, OP_BROADCAST, value, lane);
}
template <typename T>
inline T simd_prefix_at(int line, T value, bool inclusive) {
  T values[SIMD_WIDTH];
  emulator_exchange(line, OP_PREFIX, &value, sizeof value, values);
  T sum = T(0);
  uint end = emulator_lane() + (inclusive ? 1 : 0);
  for (uint i = 0; i < end; i++) sum += values[i];
  return sum;
}
inline bool simd_any_at(int line, bool value) {
  return reduce_lanes(line, OP_VOTE, int(value), [](int a, int b) { return a | b; }) != 0;
}

#define simd_sum(x) simd_sum_at(__LINE__, x)
#define simd_max(x) simd_max_at(__LINE__, x)
#define simd_min(x) simd_min_at(__LINE__, x)
#define simd_shuffle(x, lane) simd_shuffle_at(__LINE__, x, lane)
#define simd_shuffle_xor(x, mask) simd_shuffle_xor_at(__LINE__, x, mask)
#define simd_broadcast(x, lane) simd_broadcast_at(__LINE__, x, lane)
#define simd_prefix_inclusive_sum(x) simd_prefix_at(__LINE__, x, true)
#define simd_prefix_exclusive_sum(x) simd_prefix_at(__LINE__, x, false)
#define simd_any(x) simd_any_at(__LINE__, x)

// An 8x8 matrix over a SIMD group: every lane holds two neighbours of one row.
template <typename T, int R, int C>
struct simdgroup_matrix {
  vec<T, 2> elements;
  vec<T, 2>& thread_elements() { return elements; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;

inline uint matrix_row(uint lane) { return ((lane / 4) & 4) + (lane / 2) % 4; }
inline uint matrix_column(uint lane) { return ((lane / 4) & 2) * 2 + (lane % 2) * 2; }
inline uint matrix_lane(uint row, uint column) {
  return (row & 4) * 4 + (column & 4) * 2 + (row & 3) * 2 + (column & 2) / 2;
}

struct MatrixPair {
  float a[2];
  float b[2];
};

UNTRACKED inline void matrix_multiply_at(int line, simdgroup_float8x8& out, simdgroup_float8x8 a, simdgroup_float8x8 b,
                               simdgroup_float8x8 c) {
  MatrixPair mine = {{a.elements[0], a.elements[1]}, {b.elements[0], b.elements[1]}};
  MatrixPair all[SIMD_WIDTH];
  emulator_exchange(line, OP_MATRIX, &mine, sizeof mine, all);
  uint row = matrix_row(emulator_lane()), column = matrix_column(emulator_lane());
  float sum[2] = {c.elements[0], c.elements[1]};
  for (uint k = 0; k < 8; k++) {
    float left = all[matrix_lane(row, k)].a[k % 2];
    const float* right = all[matrix_lane(k, column)].b;
    sum[0] += left * right[0];
    sum[1] += left * right[1];
  }
  out.elements[0] = sum[0];
  out.elements[1] = sum[1];
}

#define simdgroup_multiply_accumulate(d, a, b, c) matrix_multiply_at(__LINE__, d, a, b, c)
