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
  // Owns `comm`, on which there are no other messages.
  NativeExchange(MPI_Comm comm, HaloSide out, HaloSide in);
  NativeExchange(const NativeExchange&) = delete;
  NativeExchange& operator=(const NativeExchange&) = delete;
  ~NativeExchange();

  // Begins an exchange; the one before is over. Makes messages for a pair of vectors that was not used recently.
  int begin(const void* from, void* to);
  // `*here`: whether all that comes from this source has arrived.
  int ready(std::size_t in, bool* here);
  // `*in`: a source from which all has arrived, and which this call has not reported in this exchange; nullopt: none.
  int ready_any(std::optional<std::size_t>* in);
  int wait();

 private:
  // The messages of a pair of vectors: receives, then sends; none with MPI_PROC_NULL.
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
  std::vector<std::size_t> receives_;  // by receive: the number of its source
  std::size_t sends_ = 0;
  std::vector<Messages> seen_;
  std::size_t next_ = 0;  // the place in seen_, modulo its length, that the next new pair of vectors gets
  std::vector<MPI_Request>* present_ = nullptr;
  // Of the present exchange.
  std::vector<bool> here_;            // by source
  std::vector<std::size_t> arrived_;  // sources in the order of their coming; with room for all
  std::size_t told_ = 0;              // how many of arrived_ ready_any() has returned
};

}  // namespace urakata::shim
