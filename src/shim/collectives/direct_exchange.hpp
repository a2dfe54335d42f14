// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives of a communicator whose ranks share a space: on the ranks' own buffers (direct/operations.hpp).
//
// Thread-safety: as MPI says of the calls that these stand for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "direct/operation.hpp"
#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/requests/neighbour_exchange.hpp"

namespace urakata::shim {

class DirectExchange final : public NeighbourExchange, public direct::Operation {
 public:
  // Of a call whose ranks all have direct collectives. Retains what the operation needs, but no datatypes.
  DirectExchange(const Call& call, const Reading& reading, Communicator& comm);
  ~DirectExchange() override;

  void begin() override;
  bool done() const override { return finished(); }
  void wait() override;
  int error() const override;
  std::uint64_t number() const override { return kNumbers + sequence(); }

 private:
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 48U;  // larger than those of schedules

  void describe_moves(const Reading& reading);
  void describe_reduction(const Call& call, const Reading& reading);
  void put(std::size_t index, std::span<const std::byte> range) override;
  void leave(std::unique_ptr<NeighbourExchange> own, std::vector<const Datatype*> types) override;

  Communicator& comm_;
  std::optional<UserReducer> reducer_;  // of a user-defined operation; retained
  std::vector<Block> blocks_;           // of a result with holes, by target
  std::byte* address_ = nullptr;        // of that result
  std::vector<const Datatype*> types_;  // retained since the program has freed the request
};

// For a call that is not persistent and of which may_be_direct() is true. True: `*code` is the result, and the error
// handler has been called; a request is in `*request_out` if the call succeeded. False: the call goes another way, on
// all ranks alike unless an argument is erroneous on this one.
bool started_directly(const Call& call, MPI_Request* request_out, int* code);

// Destroys the exchanges of requests that the program has freed, if they are finished. Returns whether there was one.
bool destroy_left_direct();
// In MPI_Finalize: returns when none of these operations is under way.
void finish_direct();

}  // namespace urakata::shim
