// Runs a kernel's threads as fibers: SIMD groups of 32 meet at every SIMD operation, the threadgroup at every barrier.
// Every memory access arrives through the callbacks that -fsanitize=thread plants; this file itself is compiled
// without it and no sanitizer runtime is linked.
#include "memory.hpp"
#include "schedule.hpp"

extern "C" {

int emulator_run(EmulatorLaunch* launch) {
  set_up(launch);
  run_grid();
  if (!machine.failed) count_unwritten();
  tear_down();
  return machine.failed ? 1 : 0;
}

void* emulator_base(int index) { return machine.bases[index]; }
void emulator_attribute(int which, uint32_t* xyz) { std::memcpy(xyz, machine.current->attributes[which], 12); }

uint32_t emulator_lanes() { return machine.simd_groups[machine.current->accessor.simd].lanes; }

void emulator_exchange(int line, int operation, const void* value, size_t bytes, void* all) {
  Fiber& fiber = *machine.current;
  SimdGroup& group = machine.simd_groups[fiber.accessor.simd];
  // Two banks: a lane may reach its next operation before the others have read the results of this one.
  auto& bank = group.slots[fiber.exchanges++ & 1];
  std::memcpy(bank[fiber.accessor.thread % 32], value, bytes);
  wait_as(State::simd, line, operation, 0);
  for (int lane = 0; lane < SIMD_WIDTH; lane++) std::memcpy(static_cast<char*>(all) + lane * bytes, bank[lane], bytes);
}

void emulator_simdgroup_barrier(int line, int flags) { wait_as(State::simd_barrier, line, 0, flags); }
void emulator_threadgroup_barrier(int line, int flags) { wait_as(State::barrier, line, 0, flags); }

void* emulator_threadgroup(int index, const char* name, size_t bytes, size_t item_bytes) {
  ThreadgroupArray& array = machine.arrays[index];
  if (array.memory) return static_cast<char*>(array.memory) + GUARD_BYTES;
  machine.launch->threadgroup_bytes += bytes;
  if (machine.launch->threadgroup_bytes > machine.launch->threadgroup_limit)
    fail("threadgroup_memory", std::string(name) + " brings threadgroup memory to " +
                                   std::to_string(machine.launch->threadgroup_bytes) + " of " +
                                   std::to_string(machine.launch->threadgroup_limit) + " bytes");
  array.bytes = bytes + 2 * GUARD_BYTES;
  array.memory = mmap(nullptr, array.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* base = static_cast<char*>(array.memory) + GUARD_BYTES;
  machine.ranges.push_back(make_range(name, base, bytes, static_cast<uint32_t>(item_bytes), SPACE_THREADGROUP, nullptr));
  machine.last_range = nullptr;
  return base;
}

uint32_t emulator_atomic(uint32_t* target, int operation, uint32_t value) {
  access(target, 4, operation != ATOMIC_LOAD, true);
  uint32_t before = *target;
  if (operation == ATOMIC_STORE) *target = value;
  if (operation == ATOMIC_ADD) *target = before + value;
  if (operation == ATOMIC_MAX) *target = std::max(before, value);
  if (operation == ATOMIC_MIN) *target = std::min(before, value);
  return before;
}

#define CALLBACKS(N)                                                        \
  void __tsan_read##N(void* p) { access(p, N, false); }                     \
  void __tsan_write##N(void* p) { access(p, N, true); }                     \
  void __tsan_unaligned_read##N(void* p) { access(p, N, false); }           \
  void __tsan_unaligned_write##N(void* p) { access(p, N, true); }           \
  void __tsan_volatile_read##N(void* p) { access(p, N, false); }            \
  void __tsan_volatile_write##N(void* p) { access(p, N, true); }
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read_range(void* p, size_t bytes) { if (bytes) access(p, bytes, false); }
void __tsan_write_range(void* p, size_t bytes) { if (bytes) access(p, bytes, true); }
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  __tsan_read_range(const_cast<void*>(from), bytes);
  __tsan_write_range(to, bytes);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
  __tsan_write_range(to, bytes);
  return std::memset(to, value, bytes);
}
}
