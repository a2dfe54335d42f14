// SPDX-License-Identifier: BSD-3-Clause
#include "layout/copy_kernels.hpp"

namespace urakata::layout {
const KernelTable& kernels_baseline() { return kTable; }
}  // namespace urakata::layout
