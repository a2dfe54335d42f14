#include "reduce/kernel_table.hpp"

#ifdef __AVX2__
#include "reduce/kernels.hpp"

namespace urakata::reduce {
const KernelTable* kernels_avx2() { return &kTable; }
}  // namespace urakata::reduce
#else
namespace urakata::reduce {
const KernelTable* kernels_avx2() { return nullptr; }
}  // namespace urakata::reduce
#endif
