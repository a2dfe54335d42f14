// SPDX-License-Identifier: BSD-3-Clause
// The send of an MPI_Sendrecv and its kin on a mixed endpoint communicator, where it goes through the MPI library and
// the receive does not.
//
// Functions that return int return an MPI error code; the error handler has been called.
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
  // The buffer must stay until finish().
  int start(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
  // Sends a copy: the buffer may be used again at once. MPI_ERR_NO_MEM: there is no memory for the copy.
  int start_copy(const void* address, std::int64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

  int finish();
  // For copies, instead of finish(): does not wait. A later detach() frees the send if it is done; finish_detached()
  // waits for all sends that are left.
  static void detach(std::unique_ptr<NativeSend> send);
  static void finish_detached();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace urakata::shim
