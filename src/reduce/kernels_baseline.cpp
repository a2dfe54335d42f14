#include "reduce/kernels.hpp"

namespace urakata::reduce {
const KernelTable& kernels_baseline() { return kTable; }
}  // namespace urakata::reduce
