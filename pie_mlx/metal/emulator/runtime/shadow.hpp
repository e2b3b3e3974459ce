// What is known about every element of every registered array, and the rules that make two accesses a race.
#pragma once
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "interface.h"

constexpr uint32_t NOBODY = 0;
constexpr uint32_t MANY = 0xFFFFFFFF;

// Who accesses, and between which barriers. Groups count from 1.
struct Accessor {
  uint32_t group;
  uint32_t thread;
  uint32_t simd;
  uint32_t epoch[2];       // threadgroup barriers passed, by memory space
  uint32_t simd_epoch[2];  // barriers of the SIMD group passed, by memory space
};

struct Trace {
  uint32_t group;
  uint32_t thread;
  uint32_t simd;
  uint32_t epoch;
  uint32_t simd_epoch;
  uint32_t atomic;
};

struct Cell {
  Trace writer;
  Trace reader;
  uint32_t read_mark;
  uint32_t write_mark;
};

enum Space { SPACE_DEVICE = 0, SPACE_THREADGROUP = 1 };

struct Range {
  std::string name;
  uintptr_t base;
  uintptr_t end;
  uint32_t item_bytes;
  Space space;
  EmulatorBuffer* buffer;  // null for threadgroup memory
  Cell* cells;
  size_t cells_bytes;
};

// Zero pages are mapped lazily: a large array of which a launch touches little costs little.
inline Cell* map_cells(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Cell*>(memory);
}

inline Range make_range(const char* name, void* base, size_t bytes, uint32_t item, Space space, EmulatorBuffer* buffer) {
  auto start = reinterpret_cast<uintptr_t>(base);
  size_t cells_bytes = (bytes / item + 1) * sizeof(Cell);
  return {name, start, start + bytes, item, space, buffer, map_cells(cells_bytes), cells_bytes};
}

inline bool ordered(const Trace& before, const Accessor& now, Space space) {
  if (before.group == NOBODY) return true;
  // Threadgroup memory of another group is other memory at the same address.
  if (before.group != now.group) return space == SPACE_THREADGROUP;
  if (before.thread == now.thread) return true;
  if (before.epoch < now.epoch[space]) return true;
  return before.simd == now.simd && before.simd_epoch < now.simd_epoch[space];
}

inline Trace trace_of(const Accessor& now, Space space, bool atomic) {
  return {now.group, now.thread, now.simd, now.epoch[space], now.simd_epoch[space], atomic};
}

// Readers that nothing orders are kept as one trace that stands for all of them.
inline void remember_reader(Trace& reader, const Accessor& now, Space space, bool atomic) {
  if (ordered(reader, now, space)) {
    reader = trace_of(now, space, atomic);
    return;
  }
  if (reader.group != now.group) reader.group = MANY;
  if (reader.simd != now.simd) reader.simd = MANY;
  reader.thread = MANY;
  reader.atomic = reader.atomic && atomic;
}
