// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/request_operations.hpp"

#include "shim/collectives/collective_operations.hpp"
#include "shim/collectives/exchange_operations.hpp"
#include "shim/messages/message_operations.hpp"
#include "shim/requests/status.hpp"

namespace urakata::shim {

namespace {

// Requests that hold nothing: those not in use, and the one of finished sends.
class NoOperations final : public RequestOperations {
 public:
  int start(Request& /*request*/, StartList* /*together*/) const override { return MPI_SUCCESS; }
  bool done(const Request& /*request*/) const override { return true; }
  void wait(Request& /*request*/) const override {}
  bool waits_at_endpoint(const Request& /*request*/) const override { return false; }
  RequestResult finish(Request& /*request*/, MPI_Status* status, std::uint64_t /*begin*/) const override {
    empty_status(status);
    return {};
  }
  void peek(const Request& /*request*/, MPI_Status* status) const override { empty_status(status); }
  std::uint64_t received(const Request& /*request*/) const override { return 0; }
  bool cancel(Request& /*request*/) const override { return true; }  // too late
  void clear(Request& /*request*/) const override {}
};

constinit const NoOperations of_none;
constinit const MessageOperations of_messages;
constinit const CollectiveOperations of_collectives;
constinit const ExchangeOperations of_exchanges;

}  // namespace

constinit const RequestOperations* const request_operations[] = {&of_none, &of_messages, &of_collectives, &of_exchanges,
                                                                 &of_none};

}  // namespace urakata::shim
