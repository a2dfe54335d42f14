// The moment between clone and the program's first instruction: a new process in the same address space becomes what
// exec would have made of it.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "space/attributes.hpp"
#include "space/registry.hpp"

namespace urakata::space {

// A descriptor of the daemon and the number that it is to have in the task.
struct DescriptorMove {
  int from;
  int to;
};

struct SpawnRequest {
  std::byte* stack = nullptr;  // as write_stack() gave it
  std::uint64_t entry = 0;     // of the dynamic linker
  // Changed while the descriptors are moved. No two have the same `to`.
  std::span<DescriptorMove> descriptors;
  int directory = -1;          // becomes the working directory
  int highest_descriptor = 0;  // the daemon has none above
  const Attributes* attributes = nullptr;
  std::array<char, 16> name{};   // as in ps; ends in a zero
  TaskRecord* record = nullptr;  // gets the pid
};

// Makes the process and returns its pid when it is about to enter the program, or was killed on the way there and waits
// to be reaped; a child of the calling thread, that dies with it. All that `request` points to may go away then. Error:
// which step the kernel refused, and no process is left.
Result<pid_t> spawn(const SpawnRequest& request);

// Gives every descriptor its number, in whatever order the numbers overlap, and closes all others up to `highest`. By
// raw system calls only. True: done. For tests too.
bool move_descriptors(std::span<DescriptorMove> moves, int highest);

}  // namespace urakata::space
