// SPDX-License-Identifier: BSD-3-Clause
// Blocks the program break (brk), so that every C library in the space takes memory by mmap.
//
// The program break belongs to the address space. The C library of each task would move the same one, and each would
// take the memory for its own. A page that is mapped right above the break keeps them from moving it up. They cannot
// move it down either, as long as it is where it began: the kernel does not let it go below. So the page has to be
// mapped before the space daemon's first malloc.
#pragma once

namespace urakata::space {

// Makes raw system calls only, so that it may run before any constructor. Returns 0, or the kernel's error number.
int guard_break();

}  // namespace urakata::space
