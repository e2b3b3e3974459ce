// What Metal's headers and MLX's prelude give a kernel, for execution on a CPU.
#pragma once
#include "interface.h"

// Arrays of the CPU backend are aligned to 8 bytes only.
#define VECTOR_ALIGNMENT(bytes)
#define INFINITY __builtin_inff()
#define device
#define constant
#define thread
#define threadgroup

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;

inline uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
inline float float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

struct half {
  _Float16 value;
  half() = default;
  template <typename U>
  explicit(false) half(U from) : value(static_cast<_Float16>(static_cast<float>(from))) {}
  operator float() const { return static_cast<float>(value); }
};

struct bfloat {
  uint16_t bits;
  bfloat() = default;
  template <typename U>
  explicit(false) bfloat(U from) : bits(rounded(static_cast<float>(from))) {}
  operator float() const { return float_of(uint32_t(bits) << 16); }
  static uint16_t rounded(float from) {
    uint32_t raw = bits_of(from);
    if ((raw & 0x7FFFFFFF) > 0x7F800000) return uint16_t(raw >> 16 | 64);
    return uint16_t((raw + 0x7FFF + (raw >> 16 & 1)) >> 16);
  }
};

typedef half float16_t;
typedef bfloat bfloat16_t;

template <typename T> inline T min(T a, T b) { return b < a ? b : a; }
template <typename T> inline T max(T a, T b) { return a < b ? b : a; }
template <typename T> inline T clamp(T x, T low, T high) { return min(max(x, low), high); }
inline float exp(float x) { return __builtin_expf(x); }
inline float log(float x) { return __builtin_logf(x); }
inline float tanh(float x) { return __builtin_tanhf(x); }
inline float rint(float x) { return __builtin_rintf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline bool isfinite(float x) { return (bits_of(x) & 0x7F800000) != 0x7F800000; }
inline uint popcount(uint x) { return __builtin_popcount(x); }
template <typename To, typename From> inline To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

#include "metal_vectors.hpp"

enum class mem_flags { mem_none = 0, mem_device = FLAG_DEVICE, mem_threadgroup = FLAG_THREADGROUP };
inline constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
#define threadgroup_barrier(flags) emulator_threadgroup_barrier(__LINE__, int(flags))
#define simdgroup_barrier(flags) emulator_simdgroup_barrier(__LINE__, int(flags))

struct atomic_uint {
  uint value;
};
enum memory_order { memory_order_relaxed };
inline uint atomic_load_explicit(const atomic_uint* target, memory_order) {
  return emulator_atomic(&const_cast<atomic_uint*>(target)->value, ATOMIC_LOAD, 0);
}
inline void atomic_store_explicit(atomic_uint* target, uint value, memory_order) {
  emulator_atomic(&target->value, ATOMIC_STORE, value);
}
inline uint atomic_fetch_add_explicit(atomic_uint* target, uint value, memory_order) {
  return emulator_atomic(&target->value, ATOMIC_ADD, value);
}

inline uint3 attribute3(int which) {
  uint32_t xyz[3];
  emulator_attribute(which, xyz);
  return {xyz[0], xyz[1], xyz[2]};
}
inline uint attribute1(int which) { return attribute3(which).x; }
inline uint emulator_lane() { return attribute1(11); }

#include "metal_simd.hpp"
