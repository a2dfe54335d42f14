// SPDX-License-Identifier: BSD-3-Clause
// The seed of a random test: URAKATA_TEST_SEED, else another one in each run. It is printed at once, because a test
// that hangs or crashes says nothing later.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace urakata {

// Below 2^31, so that each generator and each test program can take it. URAKATA_TEST_SEED is read as a decimal number.
inline std::uint32_t drawn_seed() {
  const char* const given = std::getenv("URAKATA_TEST_SEED");
  const std::uint64_t number = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const auto seed = static_cast<std::uint32_t>(number & 0x7fffffffU);
  std::printf("URAKATA_TEST_SEED=%u\n", seed);
  std::fflush(stdout);
  return seed;
}

}  // namespace urakata
