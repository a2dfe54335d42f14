// SPDX-License-Identifier: BSD-3-Clause
// Files of a report: those that a reader finds whole or not at all, and those that are mapped while the rank runs.
//
// Thread-safety: by any thread, if no two use one path at the same time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata::observe {

inline constexpr std::string_view kReportMark = R"({"urakata_report")";  // how DIR/rank-N.json begins

// Creates the folder of a report and its parents if needed. The error names the path and the reason.
Status make_folder(const std::string& directory);

// Whether a report may replace the file at `path`: it does not exist, cannot be read, begins with `mark`, or has only a
// part of `mark` or zeros there, as a killed rank may leave it. The error names the path and what to do.
Status may_replace(const std::string& path, std::string_view mark);

// The name under which this process writes the file until it is whole.
std::string draft_of(const std::string& path);

// Creates and maps a file of `bytes` zeros, which must not exist yet; the caller unmaps it. nullptr, with errno:
// failed, and no new file is left. The file's blocks are allocated, so a full disk shows now and not in an MPI call.
void* map_new_file(const std::string& path, std::size_t bytes);

// Writes the file in one go, in place of an old one. The error names the path and the reason, and leaves the old file.
Status write_whole(const std::string& path, std::string_view bytes);

}  // namespace urakata::observe
