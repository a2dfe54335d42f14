// SPDX-License-Identifier: BSD-3-Clause
// Facts about the processor: its vendor, whether its string instructions are fast, and which of several versions of a
// loop, compiled for different levels of the instruction set, it should run.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace urakata {

inline bool on_intel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

// Whether long stores by a string instruction (rep movsb) are fast, by the processor's flag ERMS. Such a store writes
// whole cache lines without fetching their old contents, which other ordinary stores do not.
inline bool fast_strings() {
#if defined(__x86_64__)
  constexpr unsigned kErms = 1U << 9U;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kErms) != 0;
#else
  return false;
#endif
}

// The version for the highest level that the processor supports. nullptr: the version was not compiled. `avx512` is the
// one for AVX-512 F, BW, DQ and VL together.
template <class Version>
const Version& best_version([[maybe_unused]] const Version* avx512, [[maybe_unused]] const Version* avx2,
                            const Version& baseline) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (avx512 != nullptr && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return *avx512;
  }
  if (avx2 != nullptr && __builtin_cpu_supports("avx2")) return *avx2;
#endif
  return baseline;
}

}  // namespace urakata
