// SPDX-License-Identifier: BSD-3-Clause
// The inner loops, compiled for one level of the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/cursor.hpp"

namespace urakata::layout {

struct KernelTable {
  // The run's bytes from the elements at `base` to `packed`, and back.
  void (*gather)(std::byte* packed, const std::byte* base, const Run& run);
  void (*scatter)(std::byte* base, const std::byte* packed, const Run& run);
  // Copies `count` blocks of `block` bytes each. The strides are the bytes from one block to the next.
  void (*transfer)(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                   std::uint64_t count, std::uint64_t block);
};

const KernelTable& kernels_baseline();
const KernelTable* kernels_avx2();    // null where not compiled for this architecture
const KernelTable* kernels_avx512();  // null where not compiled for this architecture

const KernelTable& kernels();  // the best for this processor

}  // namespace urakata::layout
