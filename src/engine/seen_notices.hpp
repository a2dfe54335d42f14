// SPDX-License-Identifier: BSD-3-Clause
// The notices of other ranks' failures that a domain has seen (transport/failures.hpp).
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

  // Reads the notices that have come since the last look(). Returns whether there are any.
  bool look() {
    if (failures_.count() == notices_.size()) return false;
    failures_.read(notices_);
    return true;
  }
  // Breaks the group if a notice says that the group has failed on another member.
  void break_if_told(transport::Group& group) const {
    const auto concerns = [&](const transport::Notice& notice) { return group.concerns(notice); };
    if (group.error == 0 && std::ranges::any_of(notices_, concerns)) group.error = failures_.code;
  }

 private:
  const transport::Failures& failures_;
  std::vector<transport::Notice> notices_;
};

}  // namespace urakata::engine
