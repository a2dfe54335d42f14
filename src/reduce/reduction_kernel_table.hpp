// SPDX-License-Identifier: BSD-3-Clause
// The kernels of all (operation, type) pairs, compiled for one level of the instruction set.
#pragma once

#include "reduce/reducer.hpp"

namespace urakata::reduce {

inline constexpr unsigned kOps = static_cast<unsigned>(Op::maxloc) + 1;
inline constexpr unsigned kTypes = static_cast<unsigned>(Type::count_);

struct KernelTable {
  Reducer::Apply apply[kOps][kTypes];  // null where MPI does not define the operation on the type
};

// One level of the instruction set. A table of its own would be pointers that the dynamic linker writes in every
// process, for each level; so it is made where a reduction is first needed.
struct Kernels {
  KernelTable (*table)();
};

const Kernels& kernels_baseline();
const Kernels* kernels_avx2();    // null where not compiled for this architecture
const Kernels* kernels_avx512();  // null where not compiled for this architecture

}  // namespace urakata::reduce
