// Switching between stacks. Hand-written where the calling convention is known: one switch costs a few nanoseconds,
// and a kernel makes millions of them.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
extern "C" void emulator_switch(void** saved, void* next);
asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch,@function
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

struct Context {
  void* stack_pointer = nullptr;
};

inline void prepare(Context& context, char* stack, size_t bytes, void (*entry)()) {
  auto top = reinterpret_cast<uintptr_t>(stack + bytes) & ~uintptr_t(15);
  auto slots = reinterpret_cast<void**>(top) - 8;
  for (int i = 0; i < 8; i++) slots[i] = nullptr;
  slots[6] = reinterpret_cast<void*>(entry);
  context.stack_pointer = slots;
}

inline void switch_to(Context& from, Context& to) { emulator_switch(&from.stack_pointer, to.stack_pointer); }

#else
#include <ucontext.h>

struct Context {
  ucontext_t state;
};

inline void prepare(Context& context, char* stack, size_t bytes, void (*entry)()) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack;
  context.state.uc_stack.ss_size = bytes;
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
}

inline void switch_to(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
#endif
