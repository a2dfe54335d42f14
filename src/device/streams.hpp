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
  // same handle. If use() fails with a cached stream, it is therefore called a second time, with a new stream. That one
  // replaces the cached stream if use() then succeeds. If not, the cached stream was not the fault and stays, and
  // destroy() gets the new one. make() must not call with().
  template <class Make, class Use, class Destroy>
  int with(std::uint64_t context, Make make, Use use, Destroy destroy) {
    void* cached = nullptr;
    bool made = false;
    if (const int code = find_or_make(context, make, &cached, &made); code != 0) return code;
    if (const int code = use(cached); code == 0 || made) return code;
    void* fresh = nullptr;
    if (const int code = make(&fresh); code != 0) return code;
    const int code = use(fresh);
    if (code != 0 || !replace(context, cached, fresh)) destroy(fresh);
    return code;
  }

 private:
  // Under the lock also while the driver makes a stream: two threads must not make one each.
  template <class Make>
  int find_or_make(std::uint64_t context, Make make, void** stream, bool* made) {
    const LockGuard guard(lock_);
    if (const auto found = streams_.find(context); found != streams_.end()) {
      *stream = found->second;
      return 0;
    }
    if (const int code = make(stream); code != 0) return code;
    *made = true;
    streams_[context] = *stream;
    return 0;
  }
  // False: another thread has replaced the stream already.
  bool replace(std::uint64_t context, void* cached, void* fresh) {
    const LockGuard guard(lock_);
    void*& present = streams_[context];
    if (present != cached) return false;
    present = fresh;
    return true;
  }

  Mutex lock_;
  std::map<std::uint64_t, void*> streams_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::device
