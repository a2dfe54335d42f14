// SPDX-License-Identifier: BSD-3-Clause
// Those notices of other ranks' failures that a domain has seen (transport/failures.hpp).
//
// Thread-safety: by the domain's owner.
#pragma once

#include <algorithm>
#include <vector>

#include "transport/failures.hpp"
#include "transport/group.hpp"

namespace urakata::engine {

class SeenNotices {
 public:
  explicit SeenNotices(const transport::Failures& failures) : failures_(failures) {}

  // Looks at what has come since. Returns whether there was anything.
  bool look() {
    if (failures_.count() == notices_.size()) return false;
    failures_.read(notices_);
    return true;
  }
  // Breaks the group if one of its members has told that it has failed.
  void break_if_told(transport::Group& group) const {
    const auto concerns = [&](const transport::Notice& notice) { return group.concerns(notice); };
    if (group.error == 0 && std::ranges::any_of(notices_, concerns)) group.error = failures_.code;
  }

 private:
  const transport::Failures& failures_;
  std::vector<transport::Notice> notices_;
};

}  // namespace urakata::engine
