// SPDX-License-Identifier: BSD-3-Clause
// Lets a stock debugger that is attached to any task see the programs and libraries of all tasks.
//
// For a debugger every task runs the space daemon's program, so it reads the daemon's list of loaded objects (r_debug
// of <link.h>). From version 2 on such lists form a chain, one for each name space of the dynamic linker. Each task's
// own linker has such a list too. This class puts those lists into the daemon's chain. The task's memory is not
// changed.
#pragma once

#include <link.h>

#include <cstdint>
#include <list>
#include <string>

namespace urakata::space {

// What a debugger needs to know of a program in the space.
struct LoadedProgram {
  std::string file;
  std::uint64_t base = 0;     // what was added to the file's addresses
  std::uint64_t dynamic = 0;  // address of its dynamic section; 0: none
};

// Used by the space daemon's only thread. What was added stays until the process ends.
class DebuggerChain {
 public:
  // Uses the C library's own chain. Versions before 2.35 have none: then nothing is done.
  DebuggerChain();

  // Notes a program. It can be linked once its dynamic linker has begun.
  void add(const LoadedProgram& program);
  // Links the noted programs whose dynamic linkers have begun. Returns whether to call it again later: a linker has not
  // begun, and its program was noted less than 5 s ago.
  bool link();

 private:
  // r_debug of version 2: <link.h> of older C libraries lacks the type.
  struct Node {
    r_debug list;
    Node* next;
  };
  struct Entry {
    std::string file;
    ElfW(Dyn) * dynamic = nullptr;
    link_map program{};  // list of one entry: in the linker's own list the program has no name
    Node named{};
    Node libraries{};
    std::uint64_t until = 0;  // when to stop asking, in now_ns()
    bool linked = false;
  };

  void append(Node& node);

  Node* last_ = nullptr;  // nullptr: there is no chain
  std::list<Entry> entries_;
};

}  // namespace urakata::space
