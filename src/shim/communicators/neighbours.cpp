// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/neighbours.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"

namespace urakata::shim {

namespace {

using collectives::Neighbourhood;

std::uint32_t neighbour(int rank) {
  return rank == MPI_PROC_NULL ? Neighbourhood::kNobody : static_cast<std::uint32_t>(rank);
}

std::vector<std::uint32_t> neighbours(std::span<const int> ranks) {
  std::vector<std::uint32_t> made(ranks.size());
  std::ranges::transform(ranks, made.begin(), neighbour);
  return made;
}

constexpr int kTried = 2;
constexpr std::array<int, kTried> kTwo = {0, 1};

// Whether, of two blocks that a rank sends to itself on a communicator of this rank alone, the first arrives at the
// first place.
bool in_order(MPI_Comm alone, Form form, bool blocking) {
  constexpr std::array<int, kTried> ones = {1, 1};
  constexpr std::array<MPI_Aint, kTried> bytes = {0, sizeof(int)};
  const std::array<MPI_Datatype, kTried> types = {MPI_INT, MPI_INT};
  std::array<int, kTried> got = kTwo;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto call = [&](auto now, auto later, auto... arguments) {
    if (blocking) {
      now(arguments..., alone);
    } else {
      later(arguments..., alone, &request);
      native.Wait(&request, MPI_STATUS_IGNORE);
    }
  };
  switch (form) {
    case Form::alltoall:
      call(native.Neighbor_alltoall, native.Ineighbor_alltoall, kTwo.data(), 1, MPI_INT, got.data(), 1, MPI_INT);
      break;
    case Form::alltoallv:
      call(native.Neighbor_alltoallv, native.Ineighbor_alltoallv, kTwo.data(), ones.data(), kTwo.data(), MPI_INT,
           got.data(), ones.data(), kTwo.data(), MPI_INT);
      break;
    default:
      call(native.Neighbor_alltoallw, native.Ineighbor_alltoallw, kTwo.data(), ones.data(), bytes.data(), types.data(),
           got.data(), ones.data(), bytes.data(), types.data());
  }
  return got[0] == kTwo[0];
}

Neighbours::Ordered try_all(MPI_Comm alone) {
  Neighbours::Ordered found;
  for (std::size_t form = 0; form < kForms; ++form) {
    found.blocking[form] = in_order(alone, static_cast<Form>(form), true);
    found.started[form] = in_order(alone, static_cast<Form>(form), false);
  }
  native.Comm_free(&alone);
  return found;
}

// A communicator of this rank alone, from which the tried communicators are made. MPI_Comm_create_group makes it by
// messages. What an MPI library keeps at the parent of a communicator goes when this one is freed.
MPI_Comm lone() {
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  native.Comm_group(private_comms.self, &own);
  native.Comm_create_group(private_comms.self, own, 0, &made);
  native.Group_free(&own);
  return made;
}

// Whether blocks between two ranks meet in order on grids. By MPI 4 they do not: what is sent down arrives from above.
const Neighbours::Ordered& in_order_on_grids() {
  static const Neighbours::Ordered found = [] {
    const int one = 1;
    MPI_Comm origin = lone();
    MPI_Comm alone = MPI_COMM_NULL;
    native.Cart_create(origin, 1, &one, &one, 0, &alone);
    native.Comm_free(&origin);
    return try_all(alone);
  }();
  return found;
}

// Whether blocks between two ranks meet in order on graphs. In some MPI libraries the last block meets the first place.
const Neighbours::Ordered& in_order_on_graphs() {
  static const Neighbours::Ordered found = [] {
    const std::array<int, kTried> self = {0, 0};
    MPI_Comm origin = lone();
    MPI_Comm alone = MPI_COMM_NULL;
    native.Dist_graph_create_adjacent(origin, kTried, self.data(), self.data(), kTried, self.data(), self.data(),
                                      MPI_INFO_NULL, 0, &alone);
    native.Comm_free(&origin);
    return try_all(alone);
  }();
  return found;
}

bool repeats(std::vector<std::uint32_t> ranks) {
  std::ranges::sort(ranks);
  const auto people = std::span(ranks).first(
      ranks.size() - static_cast<std::size_t>(std::ranges::count(ranks, Neighbourhood::kNobody)));
  return std::ranges::adjacent_find(people) != people.end();
}

void read_grid(MPI_Comm handle, Neighbours& made) {
  int dimensions = 0;
  native.Cartdim_get(handle, &dimensions);
  for (int d = 0; d < dimensions; ++d) {
    std::array<int, 2> ranks{};
    native.Cart_shift(handle, d, 1, &ranks[0], &ranks[1]);
    for (const int rank : ranks) made.sources.push_back(neighbour(rank));
  }
  made.destinations = made.sources;
  for (std::uint32_t i = 0; i < made.sources.size(); ++i) made.turned.push_back(i ^ 1U);
}

void read_graph(MPI_Comm handle, Neighbours& made) {
  int rank = 0;
  int count = 0;
  native.Comm_rank(handle, &rank);
  native.Graph_neighbors_count(handle, rank, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  native.Graph_neighbors(handle, rank, count, ranks.data());
  made.destinations = made.sources = neighbours(ranks);
}

void read_distributed_graph(MPI_Comm handle, Neighbours& made) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  native.Dist_graph_neighbors_count(handle, &in, &out, &weighted);
  std::vector<int> sources(static_cast<std::size_t>(in));
  std::vector<int> destinations(static_cast<std::size_t>(out));
  std::vector<int> source_weights(sources.size());
  std::vector<int> destination_weights(destinations.size());
  native.Dist_graph_neighbors(handle, in, sources.data(), source_weights.data(), out, destinations.data(),
                              destination_weights.data());
  made.sources = neighbours(sources);
  made.destinations = neighbours(destinations);
}

}  // namespace

std::optional<Neighbours> read_neighbours(MPI_Comm handle) {
  int kind = MPI_UNDEFINED;
  if (native.Topo_test(handle, &kind) != MPI_SUCCESS) return std::nullopt;
  Neighbours made;
  if (kind == MPI_CART) {
    read_grid(handle, made);
  } else if (kind == MPI_GRAPH) {
    read_graph(handle, made);
  } else if (kind == MPI_DIST_GRAPH) {
    read_distributed_graph(handle, made);
  } else {
    return std::nullopt;
  }
  if (made.turned.empty()) {
    made.turned.resize(made.sources.size());
    std::iota(made.turned.rbegin(), made.turned.rend(), 0U);
  }
  if (repeats(made.sources)) made.in_order = kind == MPI_CART ? in_order_on_grids() : in_order_on_graphs();
  return made;
}

}  // namespace urakata::shim
