// The kernels of all (operation, type) pairs, compiled for one level of the instruction set.
#pragma once

#include "reduce/reducer.hpp"

namespace urakata::reduce {

inline constexpr unsigned kOps = static_cast<unsigned>(Op::maxloc) + 1;
inline constexpr unsigned kTypes = static_cast<unsigned>(Type::count_);

struct KernelTable {
  Reducer::Apply apply[kOps][kTypes];  // null where MPI does not define the operation on the type
};

const KernelTable& kernels_baseline();
const KernelTable* kernels_avx2();    // null where not compiled for this architecture
const KernelTable* kernels_avx512();  // likewise

}  // namespace urakata::reduce
