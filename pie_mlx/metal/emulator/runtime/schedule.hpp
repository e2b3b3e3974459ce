// Lockstep: SIMD groups meet at SIMD operations, the threadgroup at barriers; whoever does not come has diverged.
#pragma once
#include "machine.hpp"

namespace {

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
