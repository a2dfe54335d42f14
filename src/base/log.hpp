// SPDX-License-Identifier: BSD-3-Clause
// Messages to the user: one line each on standard error, "urakata: [rank 3] ...".
//
// A line leaves in one write(2), so lines of several ranks do not mix. Nothing here allocates or throws, and errno is
// kept. Thread-safety: by any thread, also before MPI_Init. Before set_rank() lines show the launcher's rank, if any.
#pragma once

#include <cstdint>

namespace urakata::log {

// A message is shown if option VERBOSE is at least the number of its level.
enum class Level : std::uint8_t { error = 0, warning = 1, information = 2, detail = 3 };

void set_verbosity(unsigned verbosity);
void set_rank(int rank);
bool shown(Level level);
int rank();  // the rank that messages show; negative: none. After set_rank() signal handlers may call it

// A message is cut after some 2000 bytes. A warning is dropped if it is equal to one of the first 256 of this process.
[[gnu::format(printf, 1, 2)]] void error(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void warning(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void information(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void detail(const char* format, ...);

// A warning equal on all ranks, such as of a bad option. Rank 0 alone gives it, or each process without a known rank.
[[gnu::format(printf, 1, 2)]] void warning_of_all(const char* format, ...);

}  // namespace urakata::log
