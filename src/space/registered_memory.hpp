// Memory that libraries register with a network card, as far as forks go.
//
// Up to Linux 5.12 a fork made the card and the parent see different pages, so libibverbs and UCX leave what they
// register out of forks: madvise(MADV_DONTFORK), and MADV_DOFORK when it is deregistered. Since then the kernel gives the
// child a copy of such pages at once, and the advice is needless; libibverbs 51 and UCX 1.22 no longer give it. In a
// space it costs a lock of all ranks at each registration, and at each fork a look at all mappings (fork_guard.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace urakata::space {

// Whether this kernel, by its release as uname() tells it ("6.1.0-18-amd64"), copies pinned pages when a process forks.
bool copies_pinned_pages(std::string_view release);

// Whether a library of that path gives such advice for registered memory alone.
bool is_registering_library(std::string_view path);

// Whether advice about forks that comes from the code at this address can be ignored here. The first time it
// reads the list of all mappings. Any thread; signal handlers too.
bool is_needless_fork_advice(std::uintptr_t caller);

}  // namespace urakata::space
