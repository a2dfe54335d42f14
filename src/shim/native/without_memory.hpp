// SPDX-License-Identifier: BSD-3-Clause
// What needs more memory than the process has ends with MPI_ERR_NO_MEM, and nothing has begun.
//
// Book-keeping finds room in the reserve (base/reserve.hpp) and need not ask. What is as large as the program's
// payload, or as a type's description, does not: that is done within or_no_memory().
#pragma once

#include <new>

#include "shim/native/abi.hpp"

namespace urakata::shim {

// The MPI error code of `body()`; no error handler has been called.
template <class Body>
[[gnu::always_inline]] inline int or_no_memory(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace urakata::shim
