// SPDX-License-Identifier: BSD-3-Clause
#include "shim/user/halo_meeting.hpp"

#include <map>
#include <string>

#include "base/waiting.hpp"
#include "shim/native/native_bootstrap.hpp"
#include "shim/native/native_library.hpp"
#include "shim/process/process_state.hpp"
#include "shim/progress/progress.hpp"

namespace urakata::shim {

namespace {

// The channels that should come from each rank, and the words received for them.
class Expected {
 public:
  explicit Expected(std::span<const int> sources) : words_(sources.size()) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] != MPI_PROC_NULL) from_[sources[i]].channels.push_back(i);
    }
  }

  void take(int rank, const ChannelWord& word) {
    From& from = from_[rank];
    if (from.come < from.channels.size()) words_[from.channels[from.come]] = word;
    ++from.come;
  }

  Result<std::vector<ChannelWord>> all() {
    for (const auto& [rank, from] : from_) {
      if (from.come == from.channels.size()) continue;
      return Error{"rank " + std::to_string(rank) + " names this rank " + std::to_string(from.come) +
                   " times as one that it sends to, and this rank names it " + std::to_string(from.channels.size()) +
                   " times as one that it receives from; name each other equally often"};
    }
    return std::move(words_);
  }

 private:
  struct From {
    std::vector<std::size_t> channels;  // their numbers among the sources
    std::size_t come = 0;
  };
  std::map<int, From> from_;
  std::vector<ChannelWord> words_;
};

}  // namespace

Result<std::vector<ChannelWord>> meet(MPI_Comm comm, std::span<const int> destinations,
                                      std::span<const ChannelWord> words, std::span<const int> sources) {
  constexpr int kBytes = sizeof(ChannelWord);
  std::vector<MPI_Request> sends;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == MPI_PROC_NULL) continue;
    native.Issend(&words[i], kBytes, MPI_BYTE, destinations[i], 0, comm, &sends.emplace_back());
  }
  Expected expected(sources);
  NativeBootstrap members(comm);
  Ladder ladder(process_state.oversubscribed);
  for (bool delivered = false, over = false; !over;) {
    int flag = 0;
    MPI_Status status;
    native.Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, &status);
    if (flag != 0) {
      ChannelWord word;
      native.Recv(&word, kBytes, MPI_BYTE, status.MPI_SOURCE, 0, comm, MPI_STATUS_IGNORE);
      expected.take(status.MPI_SOURCE, word);
      ladder.restart();
      continue;
    }
    if (delivered) {
      over = members.barrier_passed();
    } else {
      native.Testall(static_cast<int>(sends.size()), sends.data(), &flag, MPI_STATUSES_IGNORE);
      delivered = flag != 0;
      if (delivered) over = !members.begin_barrier();
    }
    if (!process_state.native_only) the_progress->step_all();  // neighbours may wait for it before they call meet()
    ladder.step();
  }
  return expected.all();
}

}  // namespace urakata::shim
