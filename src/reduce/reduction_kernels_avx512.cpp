// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/reduction_kernel_table.hpp"

#ifdef __AVX512BW__
#include "reduce/reduction_kernels.hpp"

namespace urakata::reduce {
const Kernels* kernels_avx512() { return &kKernels; }
}  // namespace urakata::reduce
#else
namespace urakata::reduce {
const Kernels* kernels_avx512() { return nullptr; }
}  // namespace urakata::reduce
#endif
