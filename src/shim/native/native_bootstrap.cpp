// SPDX-License-Identifier: BSD-3-Clause
#include "shim/native/native_bootstrap.hpp"

#include "shim/native/native_library.hpp"

namespace urakata::shim {

NativeBootstrap::NativeBootstrap(MPI_Comm comm) : comm_(comm) {
  int rank = 0;
  int ranks = 1;
  native.Comm_rank(comm, &rank);
  native.Comm_size(comm, &ranks);
  rank_ = static_cast<std::size_t>(rank);
  ranks_ = static_cast<std::size_t>(ranks);
}

bool NativeBootstrap::allgather(std::span<const std::byte> own, std::span<std::byte> all) {
  const int bytes = static_cast<int>(own.size());
  return native.Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_) == MPI_SUCCESS;
}

bool NativeBootstrap::broadcast(std::span<std::byte> bytes, std::size_t root) {
  MPI_Request request = MPI_REQUEST_NULL;
  return native.Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(root), comm_,
                       &request) == MPI_SUCCESS &&
         native.Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

bool NativeBootstrap::begin_barrier() { return native.Ibarrier(comm_, &barrier_) == MPI_SUCCESS; }

bool NativeBootstrap::barrier_passed() {
  int passed = 0;
  return native.Test(&barrier_, &passed, MPI_STATUS_IGNORE) != MPI_SUCCESS || passed != 0;
}

}  // namespace urakata::shim
