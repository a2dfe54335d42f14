// SPDX-License-Identifier: BSD-3-Clause
// System calls without the C library. They are for code that must not touch thread-local storage, such as a new process
// between clone and the jump into its dynamic linker: its thread-local storage is that of the space daemon. Nothing
// here touches errno, the heap, or any other state.
#pragma once

#include <cstdint>

namespace urakata::space::raw {

// The kernel's answer: the value, or minus the error number.
[[gnu::always_inline]] inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                        long f = 0) {
#if defined(__x86_64__)
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  register long x8 asm("x8") = number;
  asm volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
  return x0;
#else
#error "a space needs x86-64 or AArch64"
#endif
}

template <class T>
[[gnu::always_inline]] inline long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// Enters a program as the kernel does: with the given stack, no frame, and no function to be called at exit.
[[noreturn, gnu::always_inline]] inline void enter(void* stack, std::uint64_t entry) {
#if defined(__x86_64__)
  asm volatile(
      "mov %0, %%rsp\n\t"
      "xor %%edx, %%edx\n\t"
      "xor %%ebp, %%ebp\n\t"
      "cld\n\t"
      "jmp *%1"
      :
      : "S"(stack), "D"(entry)
      : "memory");
#elif defined(__aarch64__)
  register void* x1 asm("x1") = stack;
  register std::uint64_t x2 asm("x2") = entry;
  asm volatile(
      "mov sp, %0\n\t"
      "mov x0, xzr\n\t"
      "mov x29, xzr\n\t"
      "mov x30, xzr\n\t"
      "br %1"
      :
      : "r"(x1), "r"(x2)
      : "x0", "memory");
#endif
  __builtin_unreachable();
}

}  // namespace urakata::space::raw
