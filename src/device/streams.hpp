// SPDX-License-Identifier: BSD-3-Clause
// Our own stream for each context or device of a driver, created on first use.
//
// Thread-safety: by any thread.
#pragma once

#include <cstdint>
#include <map>

#include "base/mutex.hpp"

namespace urakata::device {

class Streams {
 public:
  // Calls use(stream) with the context's stream, or with a new one that make(&stream) creates. Returns the code of the
  // driver, 0 for success. The program may have destroyed a context and with it our stream; a new context may have the
  // same handle. If use() fails with a cached stream, it is therefore called a second time, with a new stream.
  template <class Make, class Use>
  int with(std::uint64_t context, Make make, Use use) {
    for (bool again = false;; again = true) {
      void* stream = nullptr;
      const bool kept = recall(context, &stream);
      if (!kept) {
        if (const int code = make(&stream); code != 0) return code;
        keep(context, stream);
      }
      const int code = use(stream);
      if (code == 0 || !kept || again) return code;
      forget(context);
    }
  }

 private:
  bool recall(std::uint64_t context, void** stream) {
    const LockGuard guard(lock_);
    const auto found = streams_.find(context);
    if (found == streams_.end()) return false;
    *stream = found->second;
    return true;
  }
  void keep(std::uint64_t context, void* stream) {
    const LockGuard guard(lock_);
    streams_[context] = stream;
  }
  void forget(std::uint64_t context) {
    const LockGuard guard(lock_);
    streams_.erase(context);
  }

  Mutex lock_;
  std::map<std::uint64_t, void*> streams_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::device
