// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/reduction_kernels.hpp"

namespace urakata::reduce {
const Kernels& kernels_baseline() { return kKernels; }
}  // namespace urakata::reduce
