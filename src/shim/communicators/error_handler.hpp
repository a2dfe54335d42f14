// SPDX-License-Identifier: BSD-3-Clause
// The error handlers of communicators, also of those that the program has freed while operations on them were pending.
//
// The handle of a freed communicator must not be used. So its error handler is kept where objects of ours outlive the
// handle. It is called on a new communicator of this rank alone, which is the handle that a user's function gets.
//
// Thread-safety: forget_error_handler() by any thread, also by progress threads; the rest by threads that may call the
// MPI library.
#pragma once

#include "messages/native_receives.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

// The bits of an MPI_Errhandler; 0: none, and that of MPI_COMM_WORLD stands for it.
using KeptErrorHandler = messages::NativeHandle;

// The present error handler of a communicator that is about to be freed. The caller passes it to
// forget_error_handler().
KeptErrorHandler keep_error_handler(MPI_Comm comm);
// Releases a kept error handler; 0 is allowed.
void forget_error_handler(KeptErrorHandler handler);

// The communicator whose error handler is called for an operation. A value.
struct ErrorTarget {
  MPI_Comm comm = MPI_COMM_NULL;  // used only if `freed` is false
  bool freed = false;
  KeptErrorHandler handler = 0;  // used if `freed` is true; borrowed

  // Calls the error handler; returns `code`.
  int tell(int code) const;
};

}  // namespace urakata::shim
