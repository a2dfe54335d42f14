// SPDX-License-Identifier: BSD-3-Clause
// Requests of messages that the endpoint carries, or that may come from it or from the MPI library.
#pragma once

#include "shim/requests/request_operations.hpp"

namespace urakata::shim {

class MessageOperations final : public RequestOperations {
 public:
  int start(Request& request, StartList* together) const override;
  bool done(const Request& request) const override;
  void wait(Request& request) const override;
  void note_unsuccessful_test(Request& request) const override;
  bool waits_at_endpoint(const Request& /*request*/) const override { return true; }
  RequestResult finish(Request& request, MPI_Status* status, std::uint64_t begin) const override;
  void peek(const Request& request, MPI_Status* status) const override;
  std::uint64_t received(const Request& request) const override;
  bool cancel(Request& request) const override;
  bool abandon(Request& request) const override;
  void clear(Request& request) const override;
  EndpointComm* endpoint_comm(const Request& request) const override;
};

}  // namespace urakata::shim
