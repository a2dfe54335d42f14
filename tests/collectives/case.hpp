// SPDX-License-Identifier: BSD-3-Clause
// One collective on one group: inputs, every rank's schedule, the run, and what must come out.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/expectation.hpp"
#include "simulate.hpp"

namespace urakata::collectives {

// The operation under test on elements of 8 bytes: x -> ax + b modulo 2^32, composed. It does not commute. Commutative:
// sum.
struct Affine {
  std::uint32_t a, b;
};
inline void compose(const std::byte* left, std::byte* right) {
  Affine l, r;
  std::memcpy(&l, left, sizeof l);
  std::memcpy(&r, right, sizeof r);
  const Affine made{l.a * r.a, l.a * r.b + l.b};
  std::memcpy(right, &made, sizeof made);
}
inline void sum(const std::byte* left, std::byte* right) {
  std::uint64_t l, r;
  std::memcpy(&l, left, sizeof l);
  std::memcpy(&r, right, sizeof r);
  r += l;
  std::memcpy(right, &r, sizeof r);
}

struct Case {
  Operation operation = Operation::barrier;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;
  bool in_place = false;
  std::uint64_t bytes = 0;  // as Arguments::bytes; the v-forms have blocks around it, some of them empty
  bool commutative = true;
  std::uint64_t extent = 8;
  std::uint64_t segment = 0;
  bool in_turn = false;
  std::uint64_t seed = 1;
};

// Empty when all is well; a sentence otherwise. An algorithm that does not suit (a sentence of its own) is reported,
// too.
std::string run(const Case& c, const Algorithm& algorithm);

}  // namespace urakata::collectives
