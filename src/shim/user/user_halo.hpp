// SPDX-License-Identifier: BSD-3-Clause
// A halo of urakata.h: a repeated exchange with neighbours. The ranks agree on a persistent neighbourhood channel if
// all of them can have one. Otherwise they use persistent messages of the MPI library.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "shim/collectives/channel_exchange.hpp"
#include "shim/user/halo_side.hpp"
#include "shim/user/native_exchange.hpp"

namespace urakata::shim {

class UserHalo {
 public:
  // Collective over the communicator. If a rank passes an error for a side, or sides do not fit together, all ranks get
  // an error. `site`: return address of the program's call, for the report.
  static Result<std::unique_ptr<UserHalo>> make(MPI_Comm comm, Result<HaloSide> out, Result<HaloSide> in,
                                                const void* site);
  UserHalo(const UserHalo&) = delete;
  UserHalo& operator=(const UserHalo&) = delete;
  ~UserHalo();  // no exchange may be under way

  void name(std::string_view given);  // in the report
  std::size_t sources() const { return sources_; }
  bool under_way() const { return under_way_; }
  bool by_channel() const { return exchange_ != nullptr; }

  // Each returns an MPI error code; the error handler has been called. begin(): no exchange may be under way. The
  // others: one must be.
  int begin(const void* from, void* to);  // allocates nothing if by_channel()
  int ready(std::size_t in, bool* here);
  int ready_any(std::optional<std::size_t>* in);
  int end();

 private:
  UserHalo() = default;
  // Asks. If the answer is no, makes progress of all that is ours and asks once more.
  template <class Ask, class Answer>
  int test(Ask ask, Answer& here);

  int failure();  // the exchange's error, reported to the error handler

  MPI_Comm comm_ = MPI_COMM_NULL;              // own duplicate, for an exchange that may fail
  std::unique_ptr<ChannelExchange> exchange_;  // nullptr if the halo uses native_
  std::unique_ptr<NativeExchange> native_;
  std::vector<const Datatype*> types_;  // datatypes retained for exchange_
  std::size_t sources_ = 0;
  bool under_way_ = false;

  // For the report.
  std::uint64_t bytes_ = 0;  // that a rank sends to a neighbour, the mean over all ranks
  const void* site_ = nullptr;
  std::string_view why_;
  observe::CallSite* call_site_ = nullptr;  // nullptr: the halo is not in the report (yet)
  observe::ObservedInstance observed_;
};

}  // namespace urakata::shim
