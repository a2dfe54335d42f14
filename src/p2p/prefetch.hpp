// SPDX-License-Identifier: BSD-3-Clause
// Asks for a cache line before it is needed.
#pragma once

namespace urakata::p2p {

// To be written: it is taken from the cores that have it. The compiler's own prefetch for writing is one for reading on
// processors that it knows nothing of; the instruction does nothing where there is none such.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace urakata::p2p
