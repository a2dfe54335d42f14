// SPDX-License-Identifier: BSD-3-Clause
#include "base/program_file.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file_bytes.hpp"

namespace urakata {
namespace {

constexpr std::size_t kLongestLine = 4096;  // bytes of a script's first line; Linux reads 255

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string real_path(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  std::free(real);
  return result;
}

bool runnable_file(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string search_path(std::string_view name, std::string& denied) {
  const char* variable = std::getenv("PATH");
  std::string_view list = variable != nullptr ? variable : "/bin:/usr/bin";
  while (true) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string folder = end == 0 ? "." : std::string(list.substr(0, end));
    std::string path = folder + "/" + std::string(name);
    if (runnable_file(path)) return path;
    if (denied.empty() && access(path.c_str(), F_OK) == 0) denied = path;
    if (end == list.size()) return {};
    list.remove_prefix(end + 1);
  }
}

bool raises_rights(const std::string& file) {
  struct stat about {};
  if (stat(file.c_str(), &about) != 0) return false;
  const bool user = (about.st_mode & S_ISUID) != 0 && about.st_uid != getuid();
  const bool group = (about.st_mode & S_ISGID) != 0 && about.st_gid != getgid();
  return user || group || (getuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0);
}

std::optional<ScriptLine> script_line(const std::string& file) {
  const std::string start = file_bytes(file, kLongestLine);
  if (!start.starts_with("#!")) return std::nullopt;
  const std::string_view text = trimmed(std::string_view(start).substr(2, start.find('\n') - 2));
  const std::size_t blank = std::min(text.find_first_of(" \t"), text.size());
  return ScriptLine{std::string(text.substr(0, blank)), std::string(trimmed(text.substr(blank)))};
}

}  // namespace urakata
