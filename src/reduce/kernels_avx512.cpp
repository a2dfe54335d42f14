#include "reduce/kernel_table.hpp"

#ifdef __AVX512BW__
#include "reduce/kernels.hpp"

namespace urakata::reduce {
const KernelTable* kernels_avx512() { return &kTable; }
}  // namespace urakata::reduce
#else
namespace urakata::reduce {
const KernelTable* kernels_avx512() { return nullptr; }
}  // namespace urakata::reduce
#endif
