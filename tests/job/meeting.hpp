// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads of one process, that meet by memory as the ranks of a job meet by the MPI library.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "job/bootstrap.hpp"

namespace urakata::simulated {

class Meeting {
 public:
  explicit Meeting(std::size_t ranks) : ranks_(ranks), all_(static_cast<std::ptrdiff_t>(ranks)), given_(ranks) {}

  // Calls the function on each rank, in a thread of its own, and returns when all have.
  template <class Function>
  void run(Function function) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([this, rank, &function] {
        Member member(*this, rank);
        function(member);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class Member final : public job::Bootstrap {
   public:
    Member(Meeting& meeting, std::size_t rank) : meeting_(meeting), rank_(rank) {}

    std::size_t rank() const override { return rank_; }
    std::size_t ranks() const override { return meeting_.ranks_; }

    bool allgather(std::span<const std::byte> own, std::span<std::byte> all) override {
      meeting_.given_[rank_] = own;
      meeting_.all_.arrive_and_wait();
      for (std::size_t other = 0; other < ranks(); ++other) {
        std::ranges::copy(meeting_.given_[other], all.begin() + static_cast<std::ptrdiff_t>(other * own.size()));
      }
      meeting_.all_.arrive_and_wait();
      return true;
    }

    bool broadcast(std::span<std::byte> bytes, std::size_t root) override {
      meeting_.given_[rank_] = bytes;
      meeting_.all_.arrive_and_wait();
      if (rank_ != root) std::ranges::copy(meeting_.given_[root], bytes.begin());
      meeting_.all_.arrive_and_wait();
      return true;
    }

    bool begin_barrier() override {
      awaited_ += ranks();
      meeting_.arrived_.fetch_add(1, std::memory_order_release);
      return true;
    }
    bool barrier_passed() override { return meeting_.arrived_.load(std::memory_order_acquire) >= awaited_; }

   private:
    Meeting& meeting_;
    std::size_t rank_;
    std::size_t awaited_ = 0;
  };

  std::size_t ranks_;
  std::barrier<> all_;
  std::vector<std::span<const std::byte>> given_;
  std::atomic<std::size_t> arrived_{0};
};

}  // namespace urakata::simulated
