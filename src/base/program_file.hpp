// SPDX-License-Identifier: BSD-3-Clause
// Which file a program's name means, and which interpreter runs that file, by the rules of exec and the shells.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace urakata {

inline constexpr int kDeepestScript = 4;  // depth of scripts whose interpreters are scripts; as in Linux

std::string_view base_name(std::string_view path);
// The path without symbolic links; `path` itself if it cannot be resolved.
std::string real_path(const std::string& path);
// Whether this is a regular file that the process may execute.
bool runnable_file(const std::string& path);
// The path of the program `name`, found in PATH; empty: there is none. If `denied` is empty, it receives the first file
// of that name on the way that may not be run, also where a later one is found.
std::string search_path(std::string_view name, std::string& denied);
// Whether exec would give the program other rights than the caller's: set-user-ID, set-group-ID or file capabilities.
bool raises_rights(const std::string& file);

// A script's first line: the interpreter, and the rest of the line, which the kernel passes as one argument.
struct ScriptLine {
  std::string interpreter;  // empty: the line names none
  std::string argument;
};
// nullopt: the file is no script, or cannot be read.
std::optional<ScriptLine> script_line(const std::string& file);

}  // namespace urakata
