// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/reducer.hpp"

#include <array>

#include "base/instruction_set.hpp"
#include "reduce/reduction_kernel_table.hpp"

namespace urakata::reduce {
namespace {

struct Shape {
  std::uint64_t size;
  std::uint64_t extent;
};

template <class V, class I>
constexpr Shape pair() {
  struct Layout {
    V value;
    I index;
  };
  return {sizeof(V) + sizeof(I), sizeof(Layout)};
}
template <class T>
constexpr Shape plain(unsigned parts = 1) {
  return {parts * sizeof(T), parts * sizeof(T)};
}

// In the order of Type.
constexpr std::array<Shape, kTypes> kShapes = {
    plain<std::int8_t>(),
    plain<std::int16_t>(),
    plain<std::int32_t>(),
    plain<std::int64_t>(),
    plain<std::uint8_t>(),
    plain<std::uint16_t>(),
    plain<std::uint32_t>(),
    plain<std::uint64_t>(),
    plain<float>(),
    plain<double>(),
    plain<long double>(),
    plain<float>(2),
    plain<double>(2),
    plain<long double>(2),
    plain<bool>(),
    pair<float, std::int32_t>(),
    pair<double, std::int32_t>(),
    pair<std::int64_t, std::int32_t>(),
    pair<std::int32_t, std::int32_t>(),
    pair<std::int16_t, std::int32_t>(),
    pair<long double, std::int32_t>(),
    pair<float, float>(),
    pair<double, double>(),
};

using Reducers = std::array<std::array<Reducer, kTypes>, kOps>;

Reducers make_reducers() {
  const KernelTable kernels = best_version(kernels_avx512(), kernels_avx2(), kernels_baseline()).table();
  Reducers reducers;
  for (unsigned op = 0; op < kOps; ++op) {
    for (unsigned type = 0; type < kTypes; ++type) {
      reducers[op][type] = {
          .apply = kernels.apply[op][type], .size = kShapes[type].size, .extent = kShapes[type].extent};
    }
  }
  return reducers;
}

}  // namespace

const Reducer* builtin(Op op, Type type) {
  static const Reducers& reducers = *new Reducers(make_reducers());  // progress threads may outlast main
  const auto row = static_cast<unsigned>(op);
  const auto column = static_cast<unsigned>(type);
  if (row >= kOps || column >= kTypes) return nullptr;
  const Reducer& reducer = reducers[row][column];
  return reducer.apply == nullptr ? nullptr : &reducer;
}

}  // namespace urakata::reduce
