// Rows of paged keys and values, four elements at a time.
//
// A pool holds elements of type T, or codes: 8-bit (four to a word) or 4-bit (eight to a word, low nibble first), with
// one scale and one bias per GROUP elements; an element is code * scale + bias.

template <int WIDTH, int BITS, int GROUP, typename T>
inline float4 load_four(
    const device T* pool, const device T* scales, const device T* biases, size_t row, uint first) {
  return float4(*(const device vec<T, 4>*)(pool + row * WIDTH + first));
}

template <int WIDTH, int BITS, int GROUP, typename T>
inline float4 load_four(
    const device uint32_t* pool, const device T* scales, const device T* biases, size_t row, uint first) {
  uint word = pool[(row * WIDTH + first) / (32 / BITS)] >> ((first * BITS) % 32);
  size_t group = (row * WIDTH + first) / GROUP;
  float scale = float(scales[group]);
  float bias = float(biases[group]);
  uint mask = (1u << BITS) - 1;
  return float4(
      float(word & mask) * scale + bias,
      float((word >> BITS) & mask) * scale + bias,
      float((word >> (2 * BITS)) & mask) * scale + bias,
      float((word >> (3 * BITS)) & mask) * scale + bias);
}
