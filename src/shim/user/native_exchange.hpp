// SPDX-License-Identifier: BSD-3-Clause
// An exchange with neighbours by persistent messages of the MPI library, for a halo of urakata.h whose ranks cannot
// have a neighbourhood channel. The MPI library reports errors to the communicator's error handler. Each function
// returns the MPI library's code.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "shim/user/halo_side.hpp"

namespace urakata::shim {

class NativeExchange {
 public:
  // `comm`: its own, freed with it.
  NativeExchange(MPI_Comm comm, HaloSide out, HaloSide in);
  NativeExchange(const NativeExchange&) = delete;
  NativeExchange& operator=(const NativeExchange&) = delete;
  ~NativeExchange();

  // The exchange before is over. Makes messages for vectors that it has not seen lately.
  int begin(const void* from, void* to);
  // Is everything of this source here?
  int ready(std::size_t in, bool* here);
  // A source of which everything is here and that this has not told of in this exchange.
  int ready_any(std::optional<std::size_t>* in);
  int wait();

 private:
  // The messages of a pair of vectors: receives, then sends; none from nobody or to nobody.
  struct Messages {
    const void* from = nullptr;
    void* to = nullptr;
    std::vector<MPI_Request> requests;
  };
  int messages_of(const void* from, void* to, std::vector<MPI_Request>** found);
  void note(std::size_t in);

  MPI_Comm comm_;
  HaloSide out_;
  HaloSide in_;
  std::vector<std::size_t> receives_;  // of each receive its source
  std::size_t sends_ = 0;
  std::vector<Messages> seen_;
  std::size_t next_ = 0;  // whose place other vectors get
  std::vector<MPI_Request>* present_ = nullptr;
  // Of the present exchange.
  std::vector<bool> here_;            // by source
  std::vector<std::size_t> arrived_;  // sources in the order of their coming; with room for all
  std::size_t told_ = 0;              // of these
};

}  // namespace urakata::shim
