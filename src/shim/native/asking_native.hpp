// SPDX-License-Identifier: BSD-3-Clause
// Marks the calling thread, while an object lives, as one that polls the MPI library from within our own progress. The
// MPI library then calls our progress hook, which does nothing: the polling thread's own loop progresses all that is
// ours. A thread has at most one object at a time.
//
// Thread-safety: by any thread; the mark is thread-local.
#pragma once

namespace urakata::shim {

class AskingNative {
 public:
  AskingNative() { now_ = true; }
  ~AskingNative() { now_ = false; }
  AskingNative(const AskingNative&) = delete;
  AskingNative& operator=(const AskingNative&) = delete;

  static bool now() { return now_; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool now_ = false;
};

}  // namespace urakata::shim
