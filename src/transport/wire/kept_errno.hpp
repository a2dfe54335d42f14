// SPDX-License-Identifier: BSD-3-Clause
// errno belongs to the program, whose thread this may be.
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
