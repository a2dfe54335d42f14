// The program break belongs to the address space: the C library of each task would move the same one, and each would
// take the memory for its own. With a page in the way none can move it, and all take memory by mmap instead.
#pragma once

#include "base/result.hpp"

namespace urakata::space {

// To be called once, before the first task. Error: the kernel refuses the page.
Status guard_break();

}  // namespace urakata::space
