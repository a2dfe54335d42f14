// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: a value, or an Error (what was being done, to what, why it failed, what to do).
//
// Errors are values inside the core; the shim turns them into an MPI error on the user's communicator.
// value(), * and -> need ok(); error() needs !ok(). Thread-safety: as for any value type.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace urakata {

struct Error {
  std::string message;  // one sentence: what, to what, why, what to do
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor): reads as a return
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

}  // namespace urakata
