// SPDX-License-Identifier: BSD-3-Clause
// Keeps errno as it was over a scope: the calling thread may be one of the program.
#pragma once

#include <cerrno>

namespace urakata::transport {

class KeptErrno {
 public:
  KeptErrno() : before_(errno) {}
  ~KeptErrno() { errno = before_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int before_;
};

}  // namespace urakata::transport
