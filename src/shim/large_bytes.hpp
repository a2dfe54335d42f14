// More bytes than an int counts, on hosts without MPI_Count forms: a type of 1 GiB blocks and the rest.
#pragma once

#include <cstdint>

#include "shim/abi.hpp"
#include "shim/host.hpp"

namespace urakata::shim {

struct LargeBytes {
  explicit LargeBytes(std::uint64_t bytes) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 30U;
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    host.Type_contiguous(static_cast<int>(kPiece), MPI_BYTE, &piece);
    const auto pieces = static_cast<int>(bytes / kPiece);
    const int lengths[] = {pieces, static_cast<int>(bytes % kPiece)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(static_cast<std::uint64_t>(pieces) * kPiece)};
    const MPI_Datatype types[] = {piece, MPI_BYTE};
    host.Type_create_struct(2, lengths, places, types, &type);
    host.Type_commit(&type);
    host.Type_free(&piece);
  }
  ~LargeBytes() { host.Type_free(&type); }
  LargeBytes(const LargeBytes&) = delete;
  LargeBytes& operator=(const LargeBytes&) = delete;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

}  // namespace urakata::shim
