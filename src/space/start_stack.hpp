// The first thing that a program sees: its stack with arguments, environment and auxiliary vector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace urakata::space {

// A pair of the auxiliary vector: AT_* and its value.
struct Auxiliary {
  std::uint64_t kind;
  std::uint64_t value;
};

// The vector that this process was given by the kernel, without its end.
std::vector<Auxiliary> own_auxiliary();

struct StackContents {
  std::span<const std::string> arguments;
  std::span<const std::string> environment;
  std::string file;                    // AT_EXECFN
  std::array<std::byte, 16> random{};  // AT_RANDOM: the linker makes stack and pointer guards of it
  // The rest. AT_EXECFN and AT_RANDOM are added; those of this list with these kinds are left out.
  std::span<const Auxiliary> auxiliary;
};

// Writes the contents to the upper end of `stack` as the System V ABI lays them out. The address is the stack pointer
// at the program's first instruction: a multiple of 16, with the argument count there. Error: they need more than half
// of the stack.
Result<std::byte*> write_stack(std::span<std::byte> stack, const StackContents& contents);

}  // namespace urakata::space
