// Softmax over parts: a part is (peak, sum of e^(s - peak), weighted values); parts merge by their peaks.

// For loops that index arrays of a thread: unless every index is a constant, such an array lies in memory, not in registers.
#define UNROLLED _Pragma("clang loop unroll(full)")

inline float scaled_weight(float peak, float top) { return peak == -INFINITY ? 0.0f : exp(peak - top); }

// First key a row of `length` visible keys may see under a sliding window; 0 means no window.
inline uint first_visible(uint length, uint window) { return window > 0 && length > window ? length - window : 0; }

// Whether a row sees a key by its mask line; -1 is no mask.
inline bool mask_allows(const device uint32_t* mask_bits, uint words, int line, uint key) {
  return line < 0 || ((mask_bits[size_t(line) * words + key / 32] >> (key % 32)) & 1);
}

inline uint mask_word(const device uint32_t* mask_bits, uint words, int line, uint word) {
  return line < 0 ? 0xFFFFFFFFu : mask_bits[size_t(line) * words + word];
}
