// SPDX-License-Identifier: BSD-3-Clause
// One side of a halo of urakata.h: the ranks that this rank sends to, or receives from, and for each the elements as a
// datatype of the MPI library, whether the program gave index lists or datatypes.
//
// Thread-safety: a value; by threads that may call the MPI library, which makes and frees the datatypes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "shim/native/abi.hpp"
#include "urakata.h"

namespace urakata::shim {

// A committed datatype that this object owns. A neighbourhood channel that uses the datatype retains its Datatype.
class OwnType {
 public:
  OwnType() = default;
  explicit OwnType(MPI_Datatype handle) : handle_(handle) {}
  OwnType(OwnType&& other) noexcept : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  OwnType& operator=(OwnType&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OwnType();
  MPI_Datatype handle() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

struct HaloSide {
  std::vector<int> ranks;            // by neighbour: its rank in the communicator, or MPI_PROC_NULL
  std::vector<OwnType> types;        // by neighbour: one element is all that goes to it, or comes from it
  std::vector<std::uint64_t> bytes;  // by neighbour: payload; 0 for MPI_PROC_NULL
};

enum class Direction : std::uint8_t { send, receive };

// The side that the program describes. Error: what is wrong, for example an index and the neighbour in whose list it
// is. `ranks`: how many the communicator has.
Result<HaloSide> side_of_lists(Direction direction, const ura_halo_side& given, MPI_Aint element_bytes, int ranks);
Result<HaloSide> side_of_types(Direction direction, int neighbours, const int* given, const MPI_Datatype* types,
                               int ranks);

}  // namespace urakata::shim
