// SPDX-License-Identifier: BSD-3-Clause
#include "base/preload_env.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace urakata {
namespace {

constexpr std::string_view kVariable = "LD_PRELOAD=";

bool is_ours(std::string_view path) {
  if (path.starts_with(kLinkedToolMark) && path.substr(kLinkedToolMark.size()).starts_with('/')) return true;
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(kLibraryPrefix);
}

}  // namespace

std::vector<std::string> other_preloads(std::string_view list) {
  std::vector<std::string> entries;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(": "), list.size());
    if (end > 0 && !is_ours(list.substr(0, end))) entries.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return entries;
}

void keep_other_preloads(char* list) {
  char* end = list;
  for (const char* entry = list; *entry != '\0';) {
    const std::size_t length = std::strcspn(entry, ": ");
    const char* next = entry + length + (entry[length] == '\0' ? 0 : 1);
    if (length > 0 && !is_ours({entry, length})) {
      if (end != list) *end++ = ':';
      std::memmove(end, entry, length);
      end += length;
    }
    entry = next;
  }
  *end = '\0';
}

void forget_preload() {
  if (environ == nullptr) return;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with(kVariable)) continue;
    char* list = *entry + kVariable.size();
    keep_other_preloads(list);
    if (*list != '\0') return;
    for (; *entry != nullptr; ++entry) entry[0] = entry[1];
    return;
  }
}

}  // namespace urakata
