// Files of a report, which a reader finds whole or not at all.
//
// Thread-safety: by any thread, of different files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace urakata::observe {

// Creates the folder of a report and its parents if needed. The error names the path and the reason.
Status make_folder(const std::string& directory);

// Under what name a file is written before it is whole; another process has another.
std::string draft_of(const std::string& path);

// Writes the file at once, in place of one of that name. The error names the path and the reason, and nothing is left.
Status write_whole(const std::string& path, std::string_view bytes);

}  // namespace urakata::observe
