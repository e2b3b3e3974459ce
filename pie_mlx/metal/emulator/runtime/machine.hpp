// The machine that runs one launch: fibers in SIMD groups, registered arrays, and how a kernel is stopped.
#pragma once
#include <algorithm>

#include "fiber.hpp"
#include "shadow.hpp"

namespace {

enum class State { ready, simd, simd_barrier, barrier, done };

struct Fiber {
  Context context;
  char* stack = nullptr;
  State state = State::ready;
  int line = 0;
  int operation = 0;
  int flags = 0;
  uint32_t exchanges = 0;
  uint32_t attributes[20][3] = {};
  Accessor accessor = {};
};

struct SimdGroup {
  uint32_t first = 0;
  uint32_t lanes = 0;
  alignas(16) char slots[2][SIMD_WIDTH][EXCHANGE_SLOT_BYTES];
};

struct ThreadgroupArray {
  void* memory = nullptr;
  size_t bytes = 0;
};

constexpr size_t STACK_BYTES = 128 * 1024;
constexpr size_t GUARD_BYTES = 256;
constexpr int MAX_ARRAYS = 64;

struct Machine {
  EmulatorLaunch* launch = nullptr;
  std::vector<Fiber> fibers;
  std::vector<SimdGroup> simd_groups;
  std::vector<Range> ranges;
  std::vector<char*> bases;
  ThreadgroupArray arrays[MAX_ARRAYS];
  Context scheduler;
  Fiber* current = nullptr;
  Range* last_range = nullptr;
  char* stacks = nullptr;
  uint32_t group = 0;
  bool failed = false;
};

Machine machine;

std::string place(const Fiber& fiber) {
  char text[96];
  const auto& group = fiber.attributes[15];
  snprintf(text, sizeof text, "thread %u of threadgroup (%u, %u, %u)", fiber.accessor.thread, group[0], group[1], group[2]);
  return text;
}

void record_defect(const char* defect, const std::string& message) {
  if (machine.failed) return;
  machine.failed = true;
  snprintf(machine.launch->defect, sizeof machine.launch->defect, "%s", defect);
  snprintf(machine.launch->message, sizeof machine.launch->message, "%s", message.c_str());
}

// Leaves the kernel for good: its fibers are never resumed.
[[noreturn]] void fail(const char* defect, const std::string& message) {
  record_defect(defect, message);
  switch_to(machine.current->context, machine.scheduler);
  __builtin_unreachable();
}

void wait_as(State state, int line, int operation, int flags) {
  Fiber& fiber = *machine.current;
  fiber.state = state;
  fiber.line = line;
  fiber.operation = operation;
  fiber.flags = flags;
  switch_to(fiber.context, machine.scheduler);
}

void fiber_main() {
  emulator_entry();
  wait_as(State::done, 0, 0, 0);
}

}  // namespace
