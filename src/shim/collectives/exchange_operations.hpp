// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives that run without a schedule (neighbour_exchange.hpp).
#pragma once

#include "shim/requests/request_operations.hpp"

namespace urakata::shim {

class ExchangeOperations final : public RequestOperations {
 public:
  int start(Request& request, StartList* together) const override;
  bool done(const Request& request) const override;
  void wait(Request& request) const override;
  bool waits_at_endpoint(const Request& request) const override;
  RequestResult finish(Request& request, MPI_Status* status, std::uint64_t begin) const override;
  void peek(const Request& request, MPI_Status* status) const override;
  std::uint64_t received(const Request& request) const override;
  void clear(Request& request) const override;
  EndpointComm* endpoint_comm(const Request& request) const override;
};

}  // namespace urakata::shim
