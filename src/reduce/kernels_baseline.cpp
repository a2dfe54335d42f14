// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/kernels.hpp"

namespace urakata::reduce {
const Kernels& kernels_baseline() { return kKernels; }
}  // namespace urakata::reduce
