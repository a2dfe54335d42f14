// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/expectation.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <utility>

namespace urakata::collectives {
namespace {

using schedule::BufferId;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;
using schedule::Origin;
using schedule::RankExpectation;

bool in(Operation operation, std::initializer_list<Operation> set) {
  return std::find(set.begin(), set.end(), operation) != set.end();
}

class Meaning {
 public:
  Meaning(Operation operation, std::span<const Arguments> ranks) : operation_(operation), ranks_(ranks) {
    result_.ranks.resize(ranks.size());
    for (RankExpectation& rank : result_.ranks) {
      rank.buffers = {{.begin = 0, .end = 0, .writable = false}, {.begin = 0, .end = 0, .keep_rest = true}};
    }
    result_.commutative = ranks[0].commutative;
    result_.synchronising = operation == Operation::barrier;
    if (is_reduction(operation)) {
      result_.element = ranks[0].element;
      result_.extent = ranks[0].extent;
    }
  }

  schedule::Expectation take() {
    for (std::uint32_t r = 0; r < count(); ++r) {
      if (operation_ == Operation::bcast) {
        uses(r, kRecvBuffer, 0, ranks_[r].bytes);
        gets(r, 0, ranks_[r].bytes, {{ranks_[r].root, kRecvBuffer, 0}});
      } else if (is_reduction(operation_)) {
        reduction(r);
      } else if (operation_ == Operation::neighbor_alltoallv) {
        neighbours(r);
      } else if (operation_ != Operation::barrier) {
        exchange(r);
      }
    }
    return std::move(result_);
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(ranks_.size()); }
  BufferId input(std::uint32_t r) const { return ranks_[r].in_place ? kRecvBuffer : kSendBuffer; }

  // The caller's buffer has at least the bytes [begin, begin + bytes).
  void uses(std::uint32_t r, BufferId buffer, std::int64_t begin, std::uint64_t bytes) {
    auto& used = result_.ranks[r].buffers[buffer];
    if (bytes == 0) return;
    const bool fresh = used.begin == used.end;
    const std::int64_t end = begin + static_cast<std::int64_t>(bytes);
    used.begin = fresh ? begin : std::min(used.begin, begin);
    used.end = fresh ? end : std::max(used.end, end);
  }

  void gets(std::uint32_t r, std::int64_t offset, std::uint64_t bytes, std::vector<Origin> contributions) {
    result_.ranks[r].results.push_back({kRecvBuffer, offset, bytes, std::move(contributions)});
  }

  void reduction(std::uint32_t r) {
    const bool blocks = operation_ == Operation::reduce_scatter_block;
    const bool uneven = operation_ == Operation::reduce_scatter;
    const auto block = [&](std::uint32_t i) { return uneven ? ranks_[0].recv.bytes[i] : ranks_[0].bytes; };
    std::uint64_t before = 0;
    std::uint64_t total = blocks || uneven ? 0 : ranks_[r].bytes;
    for (std::uint32_t i = 0; (blocks || uneven) && i < count(); ++i) {
      if (i == r) before = total;
      total += block(i);
    }
    uses(r, input(r), 0, total);
    if (operation_ == Operation::reduce && r != ranks_[r].root) return;
    const std::uint32_t last = operation_ == Operation::scan ? r + 1 : operation_ == Operation::exscan ? r : count();
    uses(r, kRecvBuffer, 0, block(r));
    if (last == 0) return;
    std::vector<Origin> contributions;
    for (std::uint32_t i = 0; i < last; ++i) contributions.push_back({i, input(i), static_cast<std::int64_t>(before)});
    gets(r, 0, block(r), std::move(contributions));
  }

  struct Block {
    std::int64_t offset;
    std::uint64_t bytes;
  };

  // The block that rank `from` sends to rank `to`, in the input buffer of `from`.
  Block outgoing(std::uint32_t from, std::uint32_t to) const {
    const Arguments& a = ranks_[from];
    const auto even = Block{static_cast<std::int64_t>(a.bytes) * to, a.bytes};
    switch (operation_) {
      case Operation::allgatherv:
        return a.in_place ? Block{a.recv.displacements[from], a.recv.bytes[from]} : Block{0, a.recv.bytes[from]};
      case Operation::gather:
      case Operation::allgather:
        return a.in_place ? Block{static_cast<std::int64_t>(a.bytes) * from, a.bytes} : Block{0, a.bytes};
      case Operation::gatherv:
        return a.in_place ? Block{a.recv.displacements[from], a.recv.bytes[from]} : Block{0, a.bytes};
      case Operation::scatterv:
        return {a.send.displacements[to], a.send.bytes[to]};
      case Operation::alltoallv:
        return a.in_place ? Block{a.recv.displacements[to], a.recv.bytes[to]}
                          : Block{a.send.displacements[to], a.send.bytes[to]};
      default:
        return even;
    }
  }

  // The offset of the block from rank `from` in the receive buffer of rank `to`.
  std::int64_t incoming(std::uint32_t from, std::uint32_t to) const {
    const Arguments& a = ranks_[to];
    if (in(operation_, {Operation::scatter, Operation::scatterv})) return 0;
    if (in(operation_, {Operation::gatherv, Operation::allgatherv, Operation::alltoallv})) {
      return a.recv.displacements[from];
    }
    return static_cast<std::int64_t>(a.bytes) * from;
  }

  void exchange(std::uint32_t r) {
    const std::uint32_t root = ranks_[r].root;
    const bool to_root = in(operation_, {Operation::gather, Operation::gatherv});
    const bool from_root = in(operation_, {Operation::scatter, Operation::scatterv});
    for (std::uint32_t i = 0; i < count(); ++i) {
      // In place at the root, scatter still sends from the send buffer, and the root's own block stays there.
      if (!from_root || r == root) {
        const Block block = outgoing(r, i);
        uses(r, from_root ? kSendBuffer : input(r), block.offset, block.bytes);
      }
      if ((to_root && r != root) || (from_root && (i != root || ranks_[r].in_place))) continue;
      const Block block = outgoing(i, r);
      uses(r, kRecvBuffer, incoming(i, r), block.bytes);
      gets(r, incoming(i, r), block.bytes, {{i, from_root ? kSendBuffer : input(i), block.offset}});
    }
  }

  // What rank r gets from its neighbours: the k-th block from a rank is the k-th that this rank sends to r.
  void neighbours(std::uint32_t r) {
    const Arguments& a = ranks_[r];
    for (std::size_t d = 0; d < a.neighbours.destinations.size(); ++d) {
      uses(r, kSendBuffer, a.send.displacements[d], a.send.bytes[d]);
    }
    std::vector<std::size_t> met(count());  // by source: index in its destinations from which the next block is sought
    for (std::size_t i = 0; i < a.neighbours.sources.size(); ++i) {
      const std::size_t s = a.neighbours.order.empty() ? i : a.neighbours.order[i];
      const std::uint32_t source = a.neighbours.sources[s];
      if (source == Neighbourhood::kNobody) continue;
      const std::span<const std::uint32_t> to = ranks_[source].neighbours.destinations;
      std::size_t& next = met[source];
      while (to[next] != r) ++next;
      uses(r, kRecvBuffer, a.recv.displacements[s], a.recv.bytes[s]);
      gets(r, a.recv.displacements[s], a.recv.bytes[s],
           {{source, kSendBuffer, ranks_[source].send.displacements[next++]}});
    }
  }

  Operation operation_;
  std::span<const Arguments> ranks_;
  schedule::Expectation result_;
};

// Bytes of the block from rank i to rank j in an uneven exchange; the same in both directions, as MPI_IN_PLACE needs.
std::uint64_t uneven_block(const Arguments& common, std::uint32_t i, std::uint32_t j) {
  const std::uint64_t half = common.bytes / 2 / common.element * common.element;
  return half * ((i + j * std::uint64_t{1} + i * std::uint64_t{j}) % 4);
}

// A neighbourhood with all kinds of neighbours: two blocks to the next rank, one to the rank itself, one to the rank
// after the next, and one to MPI_PROC_NULL.
constexpr std::size_t kNeighbours = 5;

std::uint32_t neighbour(std::uint32_t rank, std::uint32_t ranks, std::size_t i, bool destination) {
  constexpr std::array<std::uint32_t, kNeighbours> kDistances = {1, 1, 0, 2, Neighbourhood::kNobody};
  const std::uint32_t distance = kDistances[i];
  if (distance == Neighbourhood::kNobody) return distance;
  return (rank + (destination ? distance : 2 * ranks - distance)) % ranks;
}

std::uint64_t neighbour_block(const Arguments& common, std::uint32_t sender, std::size_t i, bool uneven) {
  return uneven ? uneven_block(common, sender, static_cast<std::uint32_t>(i)) : common.bytes;
}

}  // namespace

schedule::Expectation expectation(Operation operation, std::span<const Arguments> of_ranks) {
  return Meaning(operation, of_ranks).take();
}

ArgumentsOfAll::ArgumentsOfAll(Operation operation, const Arguments& common, bool uneven)
    : send_(common.ranks), recv_(common.ranks), ranks_(common.ranks, common) {
  if (operation == Operation::neighbor_alltoallv) {
    neighbours(common, uneven);
    return;
  }
  const std::uint32_t n = common.ranks;
  const bool alltoall = operation == Operation::alltoallv;
  const bool at_root = in(
      operation, {Operation::gather, Operation::gatherv, Operation::scatter, Operation::scatterv, Operation::reduce});
  constexpr std::uint64_t kGap = 3;
  const auto bytes = [&](std::uint32_t i, std::uint32_t j) {
    return uneven ? uneven_block(common, i, alltoall ? j : 1) : common.bytes;
  };
  for (std::uint32_t r = 0; r < n; ++r) {
    for (Storage* storage : {&send_[r], &recv_[r]}) {
      std::int64_t at = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        storage->bytes.push_back(bytes(i, r));
        storage->displacements.push_back(at);
        at += static_cast<std::int64_t>(bytes(i, r) + (uneven ? kGap : 0));
      }
    }
    Arguments& a = ranks_[r];
    a.rank = r;
    a.in_place = common.in_place && (!at_root || r == common.root);
    if (in(operation, {Operation::gatherv, Operation::scatterv})) a.bytes = bytes(r, 0);
    a.send = {send_[r].bytes, send_[r].displacements};
    a.recv = {recv_[r].bytes, recv_[r].displacements};
  }
}

void ArgumentsOfAll::neighbours(const Arguments& common, bool uneven) {
  const std::uint32_t n = common.ranks;
  constexpr std::uint64_t kGap = 3;
  destinations_.resize(n);
  sources_.resize(n);
  for (std::uint32_t r = 0; r < n; ++r) {
    std::array<std::uint64_t, 2> at{};
    for (std::size_t i = 0; i < kNeighbours; ++i) {
      destinations_[r].push_back(neighbour(r, n, i, true));
      sources_[r].push_back(neighbour(r, n, i, false));
      const bool nobody = sources_[r][i] == Neighbourhood::kNobody;
      const std::array<std::uint64_t, 2> bytes = {neighbour_block(common, r, i, uneven),
                                                  nobody ? 0 : neighbour_block(common, sources_[r][i], i, uneven)};
      for (std::size_t side = 0; side < 2; ++side) {
        Storage& storage = (side == 0 ? send_ : recv_)[r];
        storage.bytes.push_back(bytes[side]);
        storage.displacements.push_back(static_cast<std::int64_t>(at[side]));
        at[side] += bytes[side] + (uneven ? kGap : 0);
      }
    }
    ranks_[r].rank = r;
    ranks_[r].send = {send_[r].bytes, send_[r].displacements};
    ranks_[r].recv = {recv_[r].bytes, recv_[r].displacements};
    ranks_[r].neighbours = {destinations_[r], sources_[r], {}};
  }
}

bool is_reduction(Operation operation) {
  return in(operation, {Operation::reduce, Operation::allreduce, Operation::reduce_scatter,
                        Operation::reduce_scatter_block, Operation::scan, Operation::exscan});
}

bool may_be_in_place(Operation operation) {
  return !in(operation, {Operation::barrier, Operation::bcast, Operation::neighbor_alltoallv});
}

}  // namespace urakata::collectives
