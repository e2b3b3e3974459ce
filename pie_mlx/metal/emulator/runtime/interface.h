// What the Python side and instrumented kernels see of the runtime. Layouts are mirrored in launch.py.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

// One registered array. `initialised` has one byte per element; null means all of them are. `touched`, if not null, gets
// 1 for each element that is read and 2 for each that is written.
struct EmulatorBuffer {
  const char* name;
  char* base;
  uint64_t bytes;
  uint32_t item_bytes;
  uint32_t writable;
  const uint8_t* initialised;
  uint8_t* touched;
  uint64_t requested_read;
  uint64_t unique_read;
  uint64_t requested_written;
  uint64_t unique_written;
  uint64_t never_written;
};

struct EmulatorLaunch {
  uint32_t grid[3];
  uint32_t threadgroup[3];
  uint32_t buffer_count;
  uint32_t threadgroup_limit;
  EmulatorBuffer* buffers;
  uint64_t threadgroup_bytes;
  char defect[32];
  char message[512];
};

// 0, or 1 with `defect` and `message` filled in.
int emulator_run(EmulatorLaunch* launch);

void* emulator_base(int index);

// Defined by the kernel's translation unit: calls the kernel function for the current thread.
void emulator_entry();

void emulator_attribute(int which, uint32_t* xyz);
// Fills `all` with the values of the 32 lanes, one after another.
void emulator_exchange(int line, int operation, const void* value, size_t bytes, void* all);
void emulator_simdgroup_barrier(int line, int flags);
void emulator_threadgroup_barrier(int line, int flags);
void* emulator_threadgroup(int index, const char* name, size_t bytes, size_t item_bytes);
uint32_t emulator_atomic(uint32_t* target, int operation, uint32_t value);
uint32_t emulator_lanes();
}

enum { EXCHANGE_SLOT_BYTES = 64, SIMD_WIDTH = 32, FLAG_DEVICE = 1, FLAG_THREADGROUP = 2 };
enum { ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_ADD, ATOMIC_MAX, ATOMIC_MIN };
