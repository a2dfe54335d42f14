// SPDX-License-Identifier: BSD-3-Clause
#include "base/instruction_set.hpp"
#include "layout/copy_kernel_table.hpp"

namespace urakata::layout {

const KernelTable& kernels() {
  static const KernelTable& table = best_version(kernels_avx512(), kernels_avx2(), kernels_baseline());
  return table;
}

}  // namespace urakata::layout
