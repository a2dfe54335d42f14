// SPDX-License-Identifier: BSD-3-Clause
// Marks a call that asks the host for messages from within our own polling: the host then calls the hook of its progress,
// which has nothing to do, since whoever asks has moved all that is ours just before.
//
// Thread-safety: each thread has its own.
#pragma once

namespace urakata::shim {

class AskingHost {
 public:
  AskingHost() { now_ = true; }
  ~AskingHost() { now_ = false; }
  AskingHost(const AskingHost&) = delete;
  AskingHost& operator=(const AskingHost&) = delete;

  static bool now() { return now_; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool now_ = false;
};

}  // namespace urakata::shim
