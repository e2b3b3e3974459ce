// The same vocabulary for a type check as C++ for OpenCL, whose address spaces are those of Metal.
#pragma once
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define device __global
#define constant __constant
#define thread __private
#define threadgroup __local

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef half float16_t;

struct bfloat {
  uint16_t bits;
  bfloat() = default;
  // Metal converts to and from bfloat only where it is asked to.
  explicit bfloat(float from);
  explicit operator float() const;
};
typedef bfloat bfloat16_t;
#define VECTOR_ALIGNMENT(bytes) alignas(bytes)
#define INFINITY __builtin_inff()

template <typename T> T min(T a, T b);
template <typename T> T max(T a, T b);
template <typename T> T clamp(T x, T low, T high);
float exp(float x);
float log(float x);
float tanh(float x);
float rint(float x);
float floor(float x);
float abs(float x);
float fma(float a, float b, float c);
bool isfinite(float x);
uint popcount(uint x);
template <typename To, typename From> To as_type(From from);

#include "metal_vectors.hpp"

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
void threadgroup_barrier(mem_flags flags);
void simdgroup_barrier(mem_flags flags);

// OpenCL has a type of this name with other functions.
#define atomic_uint emulated_atomic_uint
struct atomic_uint {
  uint value;
};
enum memory_order { memory_order_relaxed };
uint atomic_load_explicit(const threadgroup atomic_uint* target, memory_order order);
void atomic_store_explicit(threadgroup atomic_uint* target, uint value, memory_order order);
uint atomic_fetch_add_explicit(threadgroup atomic_uint* target, uint value, memory_order order);

template <typename T> T simd_sum(T value);
template <typename T> T simd_max(T value);
template <typename T> T simd_min(T value);
template <typename T> T simd_shuffle(T value, uint lane);
template <typename T> T simd_shuffle_xor(T value, uint mask);
template <typename T> T simd_broadcast(T value, uint lane);
template <typename T> T simd_prefix_inclusive_sum(T value);
template <typename T> T simd_prefix_exclusive_sum(T value);
bool simd_any(bool value);

template <typename T, int R, int C>
struct simdgroup_matrix {
  vec<T, 2> elements;
  vec<T, 2>& thread_elements() { return elements; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
void simdgroup_multiply_accumulate(thread simdgroup_float8x8& d, simdgroup_float8x8 a, simdgroup_float8x8 b,
                                   simdgroup_float8x8 c);
threadgroup void* emulator_threadgroup(int index, const constant char* name, size_t bytes, size_t item_bytes);
