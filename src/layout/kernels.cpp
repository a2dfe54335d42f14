#include "layout/kernel_table.hpp"

namespace urakata::layout {

namespace {

const KernelTable& best() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (const KernelTable* table = kernels_avx512();
      table != nullptr && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return *table;
  }
  if (const KernelTable* table = kernels_avx2(); table != nullptr && __builtin_cpu_supports("avx2")) return *table;
#endif
  return kernels_baseline();
}

}  // namespace

const KernelTable& kernels() {
  static const KernelTable& table = best();
  return table;
}

}  // namespace urakata::layout
