// SPDX-License-Identifier: BSD-3-Clause
// Our own contexts whose operations have failed. Messages that come for them are thrown away.
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstdint>
#include <set>

#include "transport/group.hpp"

namespace urakata::transport {

class FailedContexts {
 public:
  void add(std::int32_t context) { contexts_.insert(context); }
  bool has(std::int32_t tag) const { return !contexts_.empty() && contexts_.contains(tag >> Group::kContextShift); }

 private:
  std::set<std::int32_t> contexts_;
};

}  // namespace urakata::transport
