// SPDX-License-Identifier: BSD-3-Clause
// A call that needs more memory than the process has fails with MPI_ERR_NO_MEM before it has begun anything.
//
// If memory is short, the reserve (base/reserve.hpp) serves small allocations for book-keeping, so these are not
// checked. Allocations as large as the program's payload or a type's description are made within or_no_memory().
#pragma once

#include <new>

#include "shim/native/abi.hpp"

namespace urakata::shim {

// The MPI error code that `body()` returns, or MPI_ERR_NO_MEM if memory runs out in it. Calls no error handler.
template <class Body>
[[gnu::always_inline]] inline int or_no_memory(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace urakata::shim
