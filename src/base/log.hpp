// SPDX-License-Identifier: BSD-3-Clause
// Messages to the user: one line each on standard error, "urakata: [rank 3] ...".
//
// A line leaves in one write(2), so lines of several ranks do not mix. Nothing here allocates or throws; safe from any
// thread and before MPI_Init. Until set_rank() is called the rank is the launcher's, if it gave one.
#pragma once

#include <cstdint>

namespace urakata::log {

// Shown when VERBOSE is at least the level's number.
enum class Level : std::uint8_t { error = 0, warning = 1, information = 2, detail = 3 };

void set_verbosity(unsigned verbosity);
void set_rank(int rank);
bool shown(Level level);
int rank();  // that messages show; negative: none. After set_rank() for signal handlers, too

// Messages longer than 2000 bytes are cut. A warning whose whole text was given before is dropped.
[[gnu::format(printf, 1, 2)]] void error(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void warning(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void information(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void detail(const char* format, ...);

// For what is equal on all ranks, such as a bad option: only rank 0 gives it (every process where no rank is known).
[[gnu::format(printf, 1, 2)]] void warning_of_all(const char* format, ...);

}  // namespace urakata::log
