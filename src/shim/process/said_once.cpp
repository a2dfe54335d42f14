// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/said_once.hpp"

#include <functional>
#include <set>
#include <string>

#include "base/mutex.hpp"

namespace urakata::shim {

bool first_to_find(std::string_view kind) {
  static auto* const lock = new Mutex;
  static auto* const found = new std::set<std::string, std::less<>>;
  const LockGuard guard(*lock);
  return found->emplace(kind).second;
}

}  // namespace urakata::shim
