// Every access of a kernel: is it inside an array, was it written, does it race, how many bytes.
#pragma once
#include "machine.hpp"

namespace {

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

void count(Range& range, Cell& cell, size_t index, bool write, size_t bytes) {
  if (!range.buffer) return;
  if (range.buffer->touched) range.buffer->touched[index] |= write ? 2 : 1;
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
  count(range, cell, index, write, bytes);
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

}  // namespace
