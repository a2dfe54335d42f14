// SPDX-License-Identifier: BSD-3-Clause
// The MPI library's point-to-point as transport/native_transport.hpp wants it.
#pragma once

#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"
#include "transport/native_transport.hpp"

namespace urakata::shim {

struct NativeMessages {
  using Request = MPI_Request;
  static int isend(const transport::Message& message, MPI_Request* request);
  static int irecv(const transport::Message& message, MPI_Request* request);
  static bool done(MPI_Request request);
  static bool test(MPI_Request* request, int* error);
  static int testsome(int n, MPI_Request* requests, int* done, int* indices, int* errors);
  static void cancel(MPI_Request* request);
  static int isend_notice(std::int32_t peer, const transport::Notice& notice, MPI_Request* request);
  static bool take_notice(transport::Notice* notice);
  static bool take_away(std::int32_t peer, std::int32_t tag, MPI_Request* request);
};

// Time in ns that this thread has spent in the MPI library's sends, receives and tests that we called; counted only if
// process_state.measuring. For the goal `nbc-start-own-us`.
std::uint64_t native_ticks();

}  // namespace urakata::shim
