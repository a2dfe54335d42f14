// SPDX-License-Identifier: BSD-3-Clause
// Whether this process is a child that was forked after this object was made.
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
  const std::uint32_t forks_;  // fork_count (fork_watch.cpp) when this was made
};

}  // namespace urakata::transport
