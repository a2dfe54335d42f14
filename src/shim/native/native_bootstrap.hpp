// SPDX-License-Identifier: BSD-3-Clause
// The MPI library's collectives on one communicator, by which its ranks agree: in MPI_Init, in MPI_Finalize, and in
// collective calls between them. The communicator must outlive the object.
//
// Thread-safety: by one thread at a time, on all ranks in the same order.
#pragma once

#include "job/bootstrap.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

class NativeBootstrap final : public job::Bootstrap {
 public:
  explicit NativeBootstrap(MPI_Comm comm);

  std::size_t rank() const override { return rank_; }
  std::size_t ranks() const override { return ranks_; }
  bool allgather(std::span<const std::byte> own, std::span<std::byte> all) override;
  bool broadcast(std::span<std::byte> bytes, std::size_t root) override;
  bool begin_barrier() override;
  bool barrier_passed() override;

 private:
  MPI_Comm comm_;
  std::size_t rank_ = 0;
  std::size_t ranks_ = 1;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
};

}  // namespace urakata::shim
