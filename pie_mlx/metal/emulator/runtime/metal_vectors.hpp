// Metal's short vectors, as far as the kernels use them: elements by index, arithmetic element by element.
#pragma once

template <typename T, int N>
struct VECTOR_ALIGNMENT(sizeof(T) * N) vec {
  T lanes[N];
  vec() = default;
  explicit vec(T value) {
    for (int i = 0; i < N; i++) lanes[i] = value;
  }
  vec(T a, T b, T c, T d) : lanes{a, b, c, d} { static_assert(N == 4, "four elements"); }
  template <typename U>
  explicit vec(const vec<U, N>& from) {
    for (int i = 0; i < N; i++) lanes[i] = T(from[i]);
  }
  T operator[](int i) const { return lanes[i]; }
  T& operator[](int i) { return lanes[i]; }
};

#define VECTOR_OPERATOR(OP)                                                 \
  template <typename T, int N>                                              \
  inline vec<T, N> operator OP(vec<T, N> a, vec<T, N> b) {                  \
    for (int i = 0; i < N; i++) a[i] = a[i] OP b[i];                        \
    return a;                                                               \
  }                                                                         \
  template <typename T, int N>                                              \
  inline vec<T, N> operator OP(vec<T, N> a, T b) {                          \
    for (int i = 0; i < N; i++) a[i] = a[i] OP b;                           \
    return a;                                                               \
  }
VECTOR_OPERATOR(+)
VECTOR_OPERATOR(-)
VECTOR_OPERATOR(*)

template <typename T, int N>
inline vec<T, N> operator*(T a, vec<T, N> b) {
  return b * a;
}
template <typename T, int N>
inline vec<T, N>& operator+=(vec<T, N>& a, vec<T, N> b) {
  return a = a + b;
}
template <typename T, int N>
inline vec<T, N>& operator*=(vec<T, N>& a, T b) {
  return a = a * b;
}
template <int N>
inline float dot(vec<float, N> a, vec<float, N> b) {
  float sum = 0;
  for (int i = 0; i < N; i++) sum += a[i] * b[i];
  return sum;
}
template <int N>
inline vec<float, N> fma(vec<float, N> a, vec<float, N> b, vec<float, N> c) {
  for (int i = 0; i < N; i++) c[i] = fma(a[i], b[i], c[i]);
  return c;
}

typedef vec<float, 2> float2;
typedef vec<float, 4> float4;
typedef vec<half, 4> half4;
typedef vec<uint, 4> uint4;

struct uint3 {
  uint x, y, z;
};
