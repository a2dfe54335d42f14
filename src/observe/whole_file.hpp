// SPDX-License-Identifier: BSD-3-Clause
// Files of a report, which a reader finds whole or not at all, and those that are mapped while the rank runs.
//
// Thread-safety: by any thread, of different files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata::observe {

inline constexpr std::string_view kReportMark = R"({"urakata_report")";  // how DIR/rank-N.json begins

// Creates the folder of a report and its parents if needed. The error names the path and the reason.
Status make_folder(const std::string& directory);

// May a report take the place of this file? It may where there is none, and where the file begins with `mark`, or is
// cut off within it, as a killed rank leaves one. The error names the path and what to do.
Status may_replace(const std::string& path, std::string_view mark);

// Under what name a file is written before it is whole; another process has another.
std::string draft_of(const std::string& path);

// A new file of this size, mapped and zero, to be written to while the rank runs; nullptr, with errno: there is none,
// and nothing is left of it. Its blocks are there: where a disk is full that shows now, and not in a call of the
// program's.
void* map_new_file(const std::string& path, std::size_t bytes);

// Writes the file at once, in place of one of that name. The error names the path and the reason, and nothing is left.
Status write_whole(const std::string& path, std::string_view bytes);

}  // namespace urakata::observe
