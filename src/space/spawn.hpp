// SPDX-License-Identifier: BSD-3-Clause
// Starts a process in this address space. Between clone and the program's first instruction, the new process gives
// itself the attributes that exec would have preserved.
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

// A descriptor of the space daemon and the number that it is to have in the task.
struct DescriptorMove {
  int from;
  int to;
};

struct SpawnRequest {
  std::byte* stack = nullptr;  // stack pointer that write_stack() returned
  std::uint64_t entry = 0;     // entry point of the dynamic linker
  // Moves of descriptors, no two with the same `to`. The new process changes the array.
  std::span<DescriptorMove> descriptors;
  int directory = -1;          // becomes the working directory
  int highest_descriptor = 0;  // highest descriptor of the daemon
  const Attributes* attributes = nullptr;
  std::array<char, 16> name{};   // name that ps shows, with a terminating zero
  TaskRecord* record = nullptr;  // record that gets the pid
};

// Starts the process as a child of the calling thread; the kernel kills the process when that thread ends. Returns the
// pid when the process is about to enter the program, or if it was killed before that and waits to be reaped. After the
// return `request` is no longer used. Error: the step that the kernel refused; no process is left.
Result<pid_t> spawn(const SpawnRequest& request);

// Gives every descriptor its number, in any overlap of old and new numbers, and closes all others up to `highest`.
// Makes raw system calls only. True: success. Public for the tests.
bool move_descriptors(std::span<DescriptorMove> moves, int highest);

}  // namespace urakata::space
