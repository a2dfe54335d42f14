// SPDX-License-Identifier: BSD-3-Clause
// The MPI_Status that the program gets of a receive, a probe or a request without a message.
//
// Thread-safety: by any thread that may call the MPI library.
#pragma once

#include <cstdint>

#include "p2p/open_message.hpp"
#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

// Sets all but MPI_ERROR. The ABIs of Open MPI and MPICH say where a status has its fields; the standard ABI does not.
inline void set_status(MPI_Status* status, const p2p::Result& result) {
  if (status == MPI_STATUS_IGNORE) return;
  const bool cancelled = result.outcome == p2p::Outcome::cancelled;
  status->MPI_SOURCE = result.source == p2p::kAnySource ? MPI_ANY_SOURCE : result.source;
  status->MPI_TAG = result.tag == p2p::kAnyTag ? MPI_ANY_TAG : result.tag;
#if defined(URAKATA_ABI_OPENMPI)
  status->_ucount = result.bytes;
  status->_cancelled = cancelled ? 1 : 0;
#elif defined(URAKATA_ABI_MPICH)
  status->count_lo = static_cast<int>(static_cast<std::uint32_t>(result.bytes));
  status->count_hi_and_cancelled =
      static_cast<int>(static_cast<std::uint32_t>(result.bytes >> 32U << 1U) | (cancelled ? 1U : 0U));
#else
  native.Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(result.bytes));
  native.Status_set_cancelled(status, cancelled ? 1 : 0);
#endif
}

// As the standard says for null and inactive requests, and for collectives: the MPI library's own empty status.
inline void empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Request none = MPI_REQUEST_NULL;
  native.Wait(&none, status);
}
// The status of a receive from MPI_PROC_NULL, from the MPI library.
inline void nobodys_status(MPI_Status* status) {
  native.Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status);
}

}  // namespace urakata::shim
