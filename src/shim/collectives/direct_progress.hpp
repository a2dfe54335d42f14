// SPDX-License-Identifier: BSD-3-Clause
// The progress thread for long non-blocking collectives that work on the ranks' own buffers (direct_exchange.hpp). It
// works while the program computes, and sleeps until another rank does something. It never enters the MPI library.
//
// The thread exists if the job has progress threads, from the first long operation on. Otherwise the periodic progress
// thread of space.hpp makes this progress, if there is one. Without both, a rank makes progress in its calls, and ranks
// that wait perform most of its work.
//
// Thread-safety: stop_direct_progress() by one thread at a time, also repeatedly; the rest by any.
#pragma once

#include <cstdint>

namespace urakata::shim {

// To be called after the start of an operation of so many bytes that is not finished.
void expect_direct_progress(std::uint64_t bytes);
void stop_direct_progress();
std::uint64_t direct_progress_cpu_ns();

}  // namespace urakata::shim
