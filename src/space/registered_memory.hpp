// SPDX-License-Identifier: BSD-3-Clause
// Recognizes needless advice about forks for memory that libraries register with a network card.
//
// Up to Linux 5.12 a fork made the card and the parent see different pages. So libibverbs and UCX leave the memory that
// they register out of forks: madvise(MADV_DONTFORK), and MADV_DOFORK when it is deregistered. Since Linux 5.13 the
// kernel gives the child a copy of such pages at once, and the advice is needless. libibverbs 51 and UCX 1.22 no longer
// give it. In a space the advice costs a lock of all ranks at each registration, and a look at all mappings at each
// fork (fork_guard.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace urakata::space {

// Whether a kernel of this release, as uname() tells it ("6.1.0-18-amd64"), copies pinned pages when a process forks.
bool copies_pinned_pages(std::string_view release);

// Whether the library with this path gives advice about forks for registered memory only.
bool is_registering_library(std::string_view path);

// Whether advice about forks from the code at this address can be ignored on this kernel. The first call for an address
// reads the list of all mappings. Any thread and any signal handler may call it.
bool is_needless_fork_advice(std::uintptr_t caller);

}  // namespace urakata::space
