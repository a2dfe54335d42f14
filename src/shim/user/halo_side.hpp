// SPDX-License-Identifier: BSD-3-Clause
// One side of a halo of urakata.h: to whom its rank sends, or from whom it receives, and the elements as a datatype of
// the MPI library's for each, whether the program gave index lists or datatypes.
//
// Thread-safety: as for any value type; makes and frees datatypes of the MPI library.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "shim/native/abi.hpp"
#include "urakata.h"

namespace urakata::shim {

// A committed datatype that nobody else frees. A neighbourhood channel that uses it retains its description.
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
  std::vector<int> ranks;            // of the communicator, or MPI_PROC_NULL
  std::vector<OwnType> types;        // one element of it is what goes to that rank, or comes from it
  std::vector<std::uint64_t> bytes;  // of payload; 0 for MPI_PROC_NULL
};

enum class Direction : std::uint8_t { send, receive };

// What the program gave, or why it cannot be: the index that is wrong, and whose list it is in. `ranks`: of the
// communicator.
Result<HaloSide> side_of_lists(Direction direction, const ura_halo_side& given, MPI_Aint element_bytes, int ranks);
Result<HaloSide> side_of_types(Direction direction, int neighbours, const int* given, const MPI_Datatype* types,
                               int ranks);

}  // namespace urakata::shim
