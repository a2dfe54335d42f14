// SPDX-License-Identifier: BSD-3-Clause
// Lookup of a driver's functions by name.
#pragma once

#include <dlfcn.h>

#include <string>

#include "base/result.hpp"

namespace urakata::device {

// A chain of lookups that remembers the first missing name, so that a whole table is one expression.
class Functions {
 public:
  explicit Functions(void* library) : library_(library) {}

  template <class F>
  Functions& find(const char* name, F*& function) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
    return *this;
  }
  Status status() const {
    if (missing_.empty()) return Nothing{};
    return Error{"the library has no function " + missing_};
  }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace urakata::device
