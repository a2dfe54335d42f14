// SPDX-License-Identifier: BSD-3-Clause
// A committed datatype for more elements than an int counts: one element of it is blocks of 2^30 elements and the rest.
// For calls without MPI_Count forms.
#pragma once

#include <cstdint>

#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

struct LargeCount {
  // `extent`: of `element`, in bytes.
  explicit LargeCount(std::uint64_t count, MPI_Datatype element = MPI_BYTE, std::uint64_t extent = 1) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 30U;
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    native.Type_contiguous(static_cast<int>(kPiece), element, &piece);
    const std::uint64_t pieces = count / kPiece;
    const int lengths[] = {static_cast<int>(pieces), static_cast<int>(count % kPiece)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(pieces * kPiece * extent)};
    const MPI_Datatype types[] = {piece, element};
    native.Type_create_struct(2, lengths, places, types, &type);
    native.Type_commit(&type);
    native.Type_free(&piece);
  }
  ~LargeCount() { native.Type_free(&type); }
  LargeCount(const LargeCount&) = delete;
  LargeCount& operator=(const LargeCount&) = delete;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

}  // namespace urakata::shim
