// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/said_once.hpp"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace urakata::shim {

bool first_to_find(std::string_view kind) {
  static auto* const lock = new std::mutex;
  static auto* const found = new std::set<std::string, std::less<>>;
  const std::lock_guard guard(*lock);
  return found->emplace(kind).second;
}

}  // namespace urakata::shim
