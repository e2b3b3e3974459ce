// Rows of paged keys and values, four elements at a time.
//
// A pool holds elements of type T, or rows of words: the 8-bit (four to a word) or 4-bit codes (eight to a word, low
// nibble first) of a head, then one word per GROUP elements with scale (low half) and bias (high half) as float16. An
// element is code * scale + bias.

template <int WIDTH, int BITS, int GROUP, typename T>
inline float4 load_four(const device T* pool, size_t row, uint first) {
  return float4(*(const device vec<T, 4>*)(pool + row * WIDTH + first));
}

template <int WIDTH, int BITS, int GROUP>
inline float4 load_four(const device uint32_t* pool, size_t row, uint first) {
  constexpr uint CODE_WORDS = WIDTH * BITS / 32;
  const device uint32_t* words = pool + row * (CODE_WORDS + WIDTH / GROUP);
  uint word = words[first * BITS / 32] >> ((first * BITS) % 32);
  uint pair = words[CODE_WORDS + first / GROUP];
  float scale = float(as_type<half>(ushort(pair & 0xFFFFu)));
  float bias = float(as_type<half>(ushort(pair >> 16)));
  uint mask = (1u << BITS) - 1;
  return float4(
      float(word & mask) * scale + bias,
      float((word >> BITS) & mask) * scale + bias,
      float((word >> (2 * BITS)) & mask) * scale + bias,
      float((word >> (3 * BITS)) & mask) * scale + bias);
}
