// SPDX-License-Identifier: BSD-3-Clause
#include "shim/completion/staged_message.hpp"

#include "shim/completion/completion.hpp"
#include "shim/messages/message.hpp"

namespace urakata::shim {

int finish_staged(MPI_Request handle, MPI_Status* status) {
  Request& request = *find_request(handle);
  wait_for_message(request);
  return complete(request, &handle, status, 0);
}

int run_staged(const MessageDescriptor& descriptor, MPI_Status* status) {
  MPI_Request handle = MPI_REQUEST_NULL;
  const int code = start_staged(descriptor, &handle);
  return code != MPI_SUCCESS ? code : finish_staged(handle, status);
}

}  // namespace urakata::shim
