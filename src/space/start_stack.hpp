// SPDX-License-Identifier: BSD-3-Clause
// Writes the initial stack of a program: arguments, environment and auxiliary vector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace urakata::space {

// An entry of the auxiliary vector: AT_* and its value.
struct Auxiliary {
  std::uint64_t kind;
  std::uint64_t value;
};

// The auxiliary vector that the kernel gave to this process, without AT_NULL.
std::vector<Auxiliary> own_auxiliary();

struct StackContents {
  std::span<const std::string> arguments;
  std::span<const std::string> environment;
  std::string file;                    // AT_EXECFN
  std::array<std::byte, 16> random{};  // AT_RANDOM: the dynamic linker derives stack and pointer guards from it
  // Other entries of the auxiliary vector. AT_EXECFN and AT_RANDOM are added; entries of these kinds are left out here.
  std::span<const Auxiliary> auxiliary;
};

// Writes the contents to the upper end of `stack` as the System V ABI lays them out. Returns the stack pointer for the
// program's first instruction: a multiple of 16, which points to the argument count. Error: the contents need more than
// half of the stack.
Result<std::byte*> write_stack(std::span<std::byte> stack, const StackContents& contents);

}  // namespace urakata::space
