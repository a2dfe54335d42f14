// SPDX-License-Identifier: BSD-3-Clause
// The send of an MPI_Sendrecv and its kin on a mixed endpoint communicator, where it goes through the MPI library and
// the receive does not.
//
// Thread-safety: by any thread; an object by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "shim/native/abi.hpp"

namespace urakata::shim {

class NativeSend {
 public:
  // The buffer stays until finish(). The result is an MPI error code, and the error handler has been called.
  int start(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
  // The buffer may be used again at once.
  int start_copy(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

  int finish();
  // As finish(), but does not wait: whoever calls detach() or finish_detached() next finishes it if it is done. For
  // copies.
  static void detach(std::unique_ptr<NativeSend> send);
  static void finish_detached();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace urakata::shim
