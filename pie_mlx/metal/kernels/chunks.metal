// What a thread moves at once: N elements of type T.

template <typename T, int N>
struct ChunkOf {
  typedef vec<T, N> type;
};

template <typename T>
struct ChunkOf<T, 1> {
  typedef T type;
};
