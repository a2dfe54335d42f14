// The program break belongs to the address space: the C library of each task would move the same one, and each would
// take the memory for its own. With a page in the way none can move it up, and all take memory by mmap instead. Down
// it cannot go either as long as nothing has been taken there: the kernel lets nobody below where it began. So the page
// has to be in place before the daemon's own first malloc.
#pragma once

namespace urakata::space {

// Raw system calls only, so that it may run before any constructor. 0, or the error number of the kernel's refusal.
int guard_break();

}  // namespace urakata::space
