// SPDX-License-Identifier: BSD-3-Clause
#include "caller_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace urakata {
namespace {

std::vector<std::string_view> folders(std::string_view list) {
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t end = std::min(list.find(':'), list.size());
    found.push_back(list.substr(0, end));
    if (end == list.size()) return found;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

std::string joined_path(std::string_view of_caller, std::string_view of_launcher) {
  std::string joined(of_caller);
  std::vector<std::string_view> known = folders(of_caller);
  for (const std::string_view folder : folders(of_launcher)) {
    if (folder.empty() || std::ranges::find(known, folder) != known.end()) continue;
    known.push_back(folder);
    joined += ":" + std::string(folder);
  }
  return joined;
}

void restore_caller_path() {
  const char* const of_caller = std::getenv(kCallerPathVariable);
  if (of_caller == nullptr) return;
  const char* const of_launcher = std::getenv("PATH");
  if (*of_caller != '\0') setenv("PATH", joined_path(of_caller, of_launcher != nullptr ? of_launcher : "").c_str(), 1);
  unsetenv(kCallerPathVariable);
}

}  // namespace urakata
