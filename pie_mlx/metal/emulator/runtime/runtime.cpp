// Runs a kernel's threads as fibers: SIMD groups of 32 meet at every SIMD operation, the threadgroup at every barrier.
// Every memory access arrives through the callbacks that -fsanitize=thread plants; this file itself is compiled
// without it and no sanitizer runtime is linked.
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

// ---- memory ----

Range* find_range(uintptr_t address) {
  Range* last = machine.last_range;
  if (last && address >= last->base && address < last->end) return last;
  for (auto& range : machine.ranges)
    if (address >= range.base && address < range.end) return machine.last_range = &range;
  return nullptr;
}

std::string nearest(uintptr_t address) {
  const Range* best = nullptr;
  uintptr_t best_distance = ~uintptr_t(0);
  bool after = false;
  for (const auto& range : machine.ranges) {
    bool beyond = address >= range.base;
    uintptr_t distance = beyond ? (address < range.end ? 0 : address - range.end) : range.base - address;
    if (distance < best_distance) best = &range, best_distance = distance, after = beyond;
  }
  if (!best) return "far from any array";
  char text[160];
  snprintf(text, sizeof text, "%llu bytes %s %s (%llu bytes)", static_cast<unsigned long long>(best_distance),
           after ? "past the end of" : "before", best->name.c_str(),
           static_cast<unsigned long long>(best->end - best->base));
  return text;
}

std::string element(const Range& range, size_t index) { return range.name + "[" + std::to_string(index) + "]"; }

std::string other(const Trace& trace) {
  if (trace.group == MANY) return "several threadgroups";
  if (trace.group != machine.group) return "another threadgroup";
  if (trace.thread == MANY) return "other threads of its threadgroup";
  return "thread " + std::to_string(trace.thread) + " of its threadgroup";
}

void check_race(const Range& range, size_t index, const Trace& before, bool before_wrote, bool write, bool atomic) {
  Fiber& fiber = *machine.current;
  if (ordered(before, fiber.accessor, range.space) || (atomic && before.atomic)) return;
  const char* defect = before.group == machine.group ? "race" : "group_race";
  fail(defect, place(fiber) + (write ? " writes " : " reads ") + element(range, index) + ", which " + other(before) +
                   (before_wrote ? " wrote" : " read") + " with no barrier in between");
}

bool written_before(const Range& range, const Cell& cell, size_t index) {
  if (range.space == SPACE_THREADGROUP) return cell.writer.group == machine.group;
  if (cell.writer.group != NOBODY) return true;
  return !range.buffer->initialised || range.buffer->initialised[index];
}

void count(Range& range, Cell& cell, bool write, size_t bytes) {
  if (!range.buffer) return;
  uint32_t& mark = write ? cell.write_mark : cell.read_mark;
  (write ? range.buffer->requested_written : range.buffer->requested_read) += bytes;
  if (mark == machine.group) return;
  mark = machine.group;
  (write ? range.buffer->unique_written : range.buffer->unique_read) += range.item_bytes;
}

void access_element(Range& range, size_t index, bool write, bool atomic, size_t bytes) {
  Fiber& fiber = *machine.current;
  Cell& cell = range.cells[index];
  check_race(range, index, cell.writer, true, write, atomic);
  if (write) {
    check_race(range, index, cell.reader, false, true, atomic);
    cell.writer = trace_of(fiber.accessor, range.space, atomic);
  } else {
    if (!written_before(range, cell, index))
      fail("unwritten_read", place(fiber) + " reads " + element(range, index) + ", which nobody wrote");
    remember_reader(cell.reader, fiber.accessor, range.space, atomic);
  }
  count(range, cell, write, bytes);
}

bool on_stack(const Fiber& fiber, uintptr_t address) {
  auto stack = reinterpret_cast<uintptr_t>(fiber.stack);
  return address >= stack && address < stack + STACK_BYTES;
}

void access(void* pointer, size_t bytes, bool write, bool atomic = false) {
  Fiber* fiber = machine.current;
  auto address = reinterpret_cast<uintptr_t>(pointer);
  if (!fiber || on_stack(*fiber, address)) return;
  Range* range = find_range(address);
  const char* verb = write ? " writes " : " reads ";
  if (!range || address + bytes > range->end)
    fail("out_of_bounds", place(*fiber) + verb + std::to_string(bytes) + " bytes " + nearest(address));
  if (write && range->buffer && !range->buffer->writable)
    fail("read_only_write", place(*fiber) + " writes " + range->name + ", an input not declared as written");
  size_t offset = address - range->base;
  if (bytes > 1 && offset % std::min<size_t>(bytes, 16) && offset % range->item_bytes)
    fail("misaligned", place(*fiber) + verb + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                           " of " + range->name);
  size_t first = offset / range->item_bytes, last = (offset + bytes - 1) / range->item_bytes;
  size_t part = std::min<size_t>(bytes, range->item_bytes);
  for (size_t index = first; index <= last; index++) access_element(*range, index, write, atomic, part);
}

// ---- scheduling ----

void release(SimdGroup& group, State from) {
  for (uint32_t lane = 0; lane < group.lanes; lane++) {
    Fiber& fiber = machine.fibers[group.first + lane];
    if (fiber.state == from) fiber.state = State::ready;
  }
}

void pass_simd_barrier(Fiber& fiber) {
  for (int space = 0; space < 2; space++)
    if (fiber.flags & (space == SPACE_DEVICE ? FLAG_DEVICE : FLAG_THREADGROUP)) fiber.accessor.simd_epoch[space]++;
}

void pass_barrier(Fiber& fiber) {
  pass_simd_barrier(fiber);
  for (int space = 0; space < 2; space++)
    if (fiber.flags & (space == SPACE_DEVICE ? FLAG_DEVICE : FLAG_THREADGROUP)) fiber.accessor.epoch[space]++;
}

const char* state_name(State state) {
  switch (state) {
    case State::simd: return "a SIMD operation";
    case State::simd_barrier: return "a SIMD-group barrier";
    case State::barrier: return "a threadgroup barrier";
    case State::done: return "the end";
    default: return "nothing";
  }
}

std::string census(uint32_t first, uint32_t count) {
  struct Place { State state; int line; int threads; };
  std::vector<Place> places;
  for (uint32_t i = first; i < first + count; i++) {
    const Fiber& fiber = machine.fibers[i];
    auto found = std::find_if(places.begin(), places.end(),
                              [&](const Place& p) { return p.state == fiber.state && p.line == fiber.line; });
    if (found == places.end()) places.push_back({fiber.state, fiber.line, 1});
    else found->threads++;
  }
  std::string text;
  for (const auto& p : places) {
    text += (text.empty() ? "" : ", ") + std::to_string(p.threads) + " threads at " + state_name(p.state);
    if (p.line) text += " (line " + std::to_string(p.line) + ")";
  }
  return text;
}

bool same_place(const Fiber& a, const Fiber& b) {
  return a.state == b.state && a.line == b.line && a.operation == b.operation && a.flags == b.flags;
}

bool together(uint32_t first, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (!same_place(machine.fibers[first], machine.fibers[first + i])) return false;
  return true;
}

void run_ready(SimdGroup& group) {
  for (uint32_t lane = 0; lane < group.lanes && !machine.failed; lane++) {
    Fiber& fiber = machine.fibers[group.first + lane];
    if (fiber.state != State::ready) continue;
    machine.current = &fiber;
    switch_to(machine.scheduler, fiber.context);
    machine.current = nullptr;
  }
}

// Runs a SIMD group until it waits for the whole threadgroup or has ended.
void run_simd_group(SimdGroup& group, uint32_t number) {
  while (!machine.failed) {
    run_ready(group);
    if (machine.failed) return;
    bool waits = false;
    for (uint32_t lane = 0; lane < group.lanes; lane++) {
      State state = machine.fibers[group.first + lane].state;
      waits = waits || state == State::simd || state == State::simd_barrier;
    }
    if (!waits) return;
    if (!together(group.first, group.lanes)) {
      record_defect("divergence", "SIMD group " + std::to_string(number) + " diverged: " + census(group.first, group.lanes));
      return;
    }
    State state = machine.fibers[group.first].state;
    if (state == State::simd_barrier)
      for (uint32_t lane = 0; lane < group.lanes; lane++) pass_simd_barrier(machine.fibers[group.first + lane]);
    release(group, state);
  }
}

bool all_done() {
  return std::all_of(machine.fibers.begin(), machine.fibers.end(), [](const Fiber& f) { return f.state == State::done; });
}

void run_threadgroup() {
  while (!machine.failed) {
    uint32_t number = 0;
    for (auto& group : machine.simd_groups) run_simd_group(group, number++);
    if (machine.failed || all_done()) return;
    auto threads = static_cast<uint32_t>(machine.fibers.size());
    if (!together(0, threads)) {
      record_defect("divergence", "the threadgroup diverged: " + census(0, threads));
      return;
    }
    for (auto& fiber : machine.fibers) pass_barrier(fiber);
    for (auto& group : machine.simd_groups) release(group, State::barrier);
  }
}

void set_attribute(Fiber& fiber, int which, uint32_t x, uint32_t y = 0, uint32_t z = 0) {
  fiber.attributes[which][0] = x;
  fiber.attributes[which][1] = y;
  fiber.attributes[which][2] = z;
}

// Indices follow ATTRIBUTES of source.py.
void set_attributes(Fiber& fiber, uint32_t index, const uint32_t group[3]) {
  const uint32_t* grid = machine.launch->grid;
  const uint32_t* size = machine.launch->threadgroup;
  uint32_t threads = size[0] * size[1] * size[2], simds = (threads + 31) / 32;
  uint32_t local[3] = {index % size[0], index / size[0] % size[1], index / (size[0] * size[1])};
  set_attribute(fiber, 0, (threads + 3) / 4);
  set_attribute(fiber, 1, simds);
  set_attribute(fiber, 2, size[0], size[1], size[2]);
  set_attribute(fiber, 3, 0);
  set_attribute(fiber, 4, grid[0], grid[1], grid[2]);
  set_attribute(fiber, 5, index / 4);
  set_attribute(fiber, 6, (threads + 3) / 4);
  set_attribute(fiber, 7, index / 32);
  set_attribute(fiber, 8, simds);
  set_attribute(fiber, 9, 32);
  set_attribute(fiber, 10, index % 4);
  set_attribute(fiber, 11, index % 32);
  set_attribute(fiber, 12, index);
  set_attribute(fiber, 13, group[0] * size[0] + local[0], group[1] * size[1] + local[1], group[2] * size[2] + local[2]);
  set_attribute(fiber, 14, local[0], local[1], local[2]);
  set_attribute(fiber, 15, group[0], group[1], group[2]);
  set_attribute(fiber, 16, grid[0] / size[0], grid[1] / size[1], grid[2] / size[2]);
  set_attribute(fiber, 17, grid[0], grid[1], grid[2]);
  set_attribute(fiber, 18, 32);
  set_attribute(fiber, 19, size[0], size[1], size[2]);
}

void start_threads(uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t group[3] = {x, y, z};
  for (uint32_t index = 0; index < machine.fibers.size(); index++) {
    Fiber& fiber = machine.fibers[index];
    fiber.state = State::ready;
    fiber.exchanges = 0;
    fiber.accessor = {machine.group, index, index / 32, {0, 0}, {0, 0}};
    set_attributes(fiber, index, group);
    prepare(fiber.context, fiber.stack, STACK_BYTES, fiber_main);
  }
}

void set_up(EmulatorLaunch* launch) {
  machine.launch = launch;
  machine.failed = false;
  machine.group = 0;
  machine.last_range = nullptr;
  uint32_t threads = launch->threadgroup[0] * launch->threadgroup[1] * launch->threadgroup[2];
  machine.stacks = static_cast<char*>(mmap(nullptr, threads * STACK_BYTES, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  machine.fibers.assign(threads, {});
  for (uint32_t i = 0; i < threads; i++) machine.fibers[i].stack = machine.stacks + i * STACK_BYTES;
  machine.simd_groups.resize((threads + 31) / 32);
  for (uint32_t i = 0; i < machine.simd_groups.size(); i++) {
    machine.simd_groups[i].first = i * 32;
    machine.simd_groups[i].lanes = std::min<uint32_t>(32, threads - i * 32);
  }
  for (uint32_t i = 0; i < launch->buffer_count; i++) {
    EmulatorBuffer& buffer = launch->buffers[i];
    machine.bases.push_back(buffer.base);
    machine.ranges.push_back(make_range(buffer.name, buffer.base, buffer.bytes, buffer.item_bytes, SPACE_DEVICE, &buffer));
  }
}

// How many elements of each array no thread wrote: for outputs, the part that stays undefined.
void count_unwritten() {
  for (auto& range : machine.ranges) {
    if (!range.buffer || !range.buffer->writable || !range.buffer->initialised) continue;
    size_t elements = range.buffer->bytes / range.item_bytes;
    for (size_t i = 0; i < elements; i++) range.buffer->never_written += range.cells[i].writer.group == NOBODY;
  }
}

void tear_down() {
  for (auto& range : machine.ranges) munmap(range.cells, range.cells_bytes);
  machine.ranges.clear();
  machine.bases.clear();
  munmap(machine.stacks, machine.fibers.size() * STACK_BYTES);
  for (auto& array : machine.arrays) {
    if (array.memory) munmap(array.memory, array.bytes);
    array = {};
  }
}

void run_grid() {
  const uint32_t* grid = machine.launch->grid;
  const uint32_t* size = machine.launch->threadgroup;
  for (uint32_t z = 0; z < grid[2] / size[2]; z++)
    for (uint32_t y = 0; y < grid[1] / size[1]; y++)
      for (uint32_t x = 0; x < grid[0] / size[0]; x++) {
        machine.group++;
        start_threads(x, y, z);
        run_threadgroup();
        if (machine.failed) return;
      }
}

}  // namespace

// ---- what kernels and Python call ----

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
