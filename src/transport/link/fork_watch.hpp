// SPDX-License-Identifier: BSD-3-Clause
// Is this process a child that was forked since this object was made?
//
// Thread-safety: any thread.
#pragma once

#include <cstdint>

namespace urakata::transport {

class ForkWatch {
 public:
  ForkWatch();
  bool forked() const;

 private:
  const std::uint32_t forks_;  // of this process's line, when this was made
};

}  // namespace urakata::transport
