// SPDX-License-Identifier: BSD-3-Clause
#include "layout/copy_kernel_table.hpp"

#ifdef __AVX2__
#include "layout/copy_kernels.hpp"

namespace urakata::layout {
const KernelTable* kernels_avx2() { return &kTable; }
}  // namespace urakata::layout
#else
namespace urakata::layout {
const KernelTable* kernels_avx2() { return nullptr; }
}  // namespace urakata::layout
#endif
