// What is worth knowing of the processor: which of several versions of a loop, compiled for different levels of the
// instruction set, it runs best, and whose it is.
#pragma once

namespace urakata {

inline bool on_intel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

// The version for the highest level that the processor has and for which there is one; those that were not compiled are
// nullptr. `avx512` stands for F, BW, DQ and VL together.
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
