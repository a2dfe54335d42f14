// SPDX-License-Identifier: BSD-3-Clause
// Which file a program's name means, and who runs it, as exec and the shells have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace urakata {

inline constexpr int kDeepestScript = 4;  // scripts whose interpreters are scripts; as in the kernel

std::string_view base_name(std::string_view path);
// Without symbolic links; the path itself where it leads nowhere.
std::string real_path(const std::string& path);
bool runnable_file(const std::string& path);
// The program's file in PATH; empty where there is none, and `denied` then names a file that may not be run, if any.
std::string search_path(std::string_view name, std::string& denied);
// Whether exec gives the program other rights than the caller's.
bool raises_rights(const std::string& file);

// A script's first line: what runs it, and all that stands behind, which the kernel hands over as one argument.
struct ScriptLine {
  std::string interpreter;  // empty: the line names none
  std::string argument;
};
// Nothing: the file is no script.
std::optional<ScriptLine> script_line(const std::string& file);

}  // namespace urakata
