// Lets a stock debugger that is attached to any task see the programs and libraries of all.
//
// For a debugger every task runs the daemon's program, so it reads the daemon's list of loaded objects (r_debug of
// <link.h>). From version 2 on such lists form a chain, one for each name space of the dynamic linker. Each task's own
// linker has such a list too; this puts them into the daemon's chain. Nothing of the task is changed.
#pragma once

#include <link.h>

#include <cstdint>
#include <list>
#include <string>

namespace urakata::space {

// A program in the space as a debugger needs it.
struct LoadedProgram {
  std::string file;
  std::uint64_t base = 0;     // what was added to its addresses
  std::uint64_t dynamic = 0;  // where its dynamic section is; 0: it has none
};

// Of the process's only thread. What was added stays for as long as the process.
class DebuggerChain {
 public:
  // The chain is the C library's own; versions before 2.35 have none, and then nothing is done.
  DebuggerChain();

  // To be linked as soon as the program's linker has begun.
  void add(const LoadedProgram& program);
  // Links those whose linkers have begun since. True: some are left to be asked for again.
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
    link_map program{};  // a list of one: in the linker's own list the program has no name
    Node named{};
    Node libraries{};
    std::uint64_t until = 0;  // how long to be asked for, in now_ns()
    bool linked = false;
  };

  void append(Node& node);

  Node* last_ = nullptr;  // nullptr: there is no chain
  std::list<Entry> entries_;
};

}  // namespace urakata::space
