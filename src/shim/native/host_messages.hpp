// SPDX-License-Identifier: BSD-3-Clause
// The host's point-to-point as transport/host.hpp wants it.
#pragma once

#include "shim/native/abi.hpp"
#include "shim/native/host.hpp"
#include "transport/host.hpp"

namespace urakata::shim {

struct HostMessages {
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

// CPU time (ns, by the time stamp counter) that this thread has spent in host calls of ours; counted only while
// process().measuring(). For `nbc-start-own-us`.
std::uint64_t host_ticks();

}  // namespace urakata::shim
