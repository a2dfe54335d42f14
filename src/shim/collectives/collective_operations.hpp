// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives that run as an instance of a schedule.
#pragma once

#include "shim/requests/request_operations.hpp"

namespace urakata::shim {

class CollectiveOperations final : public RequestOperations {
 public:
  int start(Request& request, StartList* together) const override;
  bool done(const Request& request) const override;
  void wait(Request& request) const override;
  bool waits_at_endpoint(const Request& /*request*/) const override { return false; }
  RequestResult finish(Request& request, MPI_Status* status, std::uint64_t begin) const override;
  void peek(const Request& request, MPI_Status* status) const override;
  std::uint64_t received(const Request& request) const override;
  bool abandon(Request& request) const override;
  void clear(Request& request) const override;
};

// Releases what a collective's request retains beside its instance or exchange: datatypes, a user-defined operation,
// and the communicator.
void clear_collective(Request& request);

}  // namespace urakata::shim
