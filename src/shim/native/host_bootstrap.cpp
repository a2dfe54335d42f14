// SPDX-License-Identifier: BSD-3-Clause
#include "shim/native/host_bootstrap.hpp"

#include "shim/native/host.hpp"

namespace urakata::shim {

HostBootstrap::HostBootstrap(MPI_Comm comm) : comm_(comm) {
  int rank = 0;
  int ranks = 1;
  host.Comm_rank(comm, &rank);
  host.Comm_size(comm, &ranks);
  rank_ = static_cast<std::size_t>(rank);
  ranks_ = static_cast<std::size_t>(ranks);
}

bool HostBootstrap::allgather(std::span<const std::byte> own, std::span<std::byte> all) {
  const int bytes = static_cast<int>(own.size());
  return host.Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_) == MPI_SUCCESS;
}

bool HostBootstrap::broadcast(std::span<std::byte> bytes, std::size_t root) {
  MPI_Request request = MPI_REQUEST_NULL;
  return host.Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(root), comm_, &request) ==
             MPI_SUCCESS &&
         host.Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

bool HostBootstrap::begin_barrier() { return host.Ibarrier(comm_, &barrier_) == MPI_SUCCESS; }

bool HostBootstrap::barrier_passed() {
  int passed = 0;
  return host.Test(&barrier_, &passed, MPI_STATUS_IGNORE) != MPI_SUCCESS || passed != 0;
}

}  // namespace urakata::shim
