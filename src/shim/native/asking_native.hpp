// SPDX-License-Identifier: BSD-3-Clause
// Marks a call that asks the MPI library for messages from within our own polling: the MPI library then calls the hook
// of its progress, which has nothing to do, since whoever asks has moved all that is ours just before.
//
// Thread-safety: each thread has its own.
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
