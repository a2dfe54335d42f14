// What a process knows of its job's nodes, and the communicators by which it asks.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/topology.hpp"
#include "shim/host.hpp"
#include "shim/process.hpp"

namespace urakata::shim {

MPI_Comm Process::make_communicators() {
  // By way of one that is given back: making communicators takes non-blocking collectives of the one they are made of,
  // and while there is a communicator that has done one, each of Open MPI's polls looks after these. MPI_COMM_WORLD
  // would stay.
  host.Comm_group(MPI_COMM_WORLD, &world_group_);
  MPI_Comm origin = MPI_COMM_NULL;
  host.Comm_create_group(MPI_COMM_WORLD, world_group_, 0, &origin);  // by messages
  host.Comm_dup(origin, &world_);
  host.Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  MPI_Comm node = MPI_COMM_NULL;
  host.Comm_split_type(origin, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  host.Comm_free(&origin);
  return node;
}

Crew Process::note_nodes(MPI_Comm node) {
  MPI_Group group = MPI_GROUP_NULL;
  host.Comm_group(node, &group);
  const int first = 0;
  int leader = 0;
  host.Group_translate_ranks(group, 1, &first, world_group_, &leader);
  host.Group_free(&group);
  int rank = 0;
  int ranks = 1;
  Crew crew = crew_of_this_process();
  host.Comm_rank(node, &rank);
  host.Comm_size(node, &ranks);
  crew.rank = static_cast<std::size_t>(rank);
  crew.ranks = static_cast<std::size_t>(ranks);

  // First how much there is to tell, then no more than that: what the host allocates for larger messages it keeps.
  struct Card {
    std::int32_t leader = 0;
    std::int32_t words = 0;  // of the mask, up to the last that is not 0
  };
  static_assert(sizeof(Card) == 2 * sizeof(int));
  host.Comm_size(world_, &ranks);
  const auto world_ranks = static_cast<std::size_t>(ranks);
  std::vector<Card> cards(world_ranks);
  const Card own{leader, static_cast<std::int32_t>(crew.mask.used_words())};
  host.Allgather(&own, 2, MPI_INT, cards.data(), 2, MPI_INT, world_);
  const auto longest = static_cast<std::size_t>(std::ranges::max(cards, {}, &Card::words).words);
  std::vector<std::uint64_t> words(world_ranks * longest);
  host.Allgather(crew.mask.words().data(), static_cast<int>(longest), MPI_UINT64_T, words.data(),
                 static_cast<int>(longest), MPI_UINT64_T, world_);
  std::size_t which = 0;  // of the node's ranks
  for (std::size_t other = 0; other < world_ranks; ++other) {
    nodes_.push_back(cards[other].leader);
    if (cards[other].leader != leader) continue;
    crew.note(which++, CpuSet::from_words({words.data() + other * longest, longest}));
  }
  return crew;
}

bool Process::same_node(const std::vector<std::int32_t>& world_ranks) const {
  const std::int32_t node = nodes_[static_cast<std::size_t>(world_ranks.front())];
  return std::all_of(world_ranks.begin(), world_ranks.end(),
                     [&](std::int32_t rank) { return nodes_[static_cast<std::size_t>(rank)] == node; });
}

bool Process::nodes_apart(const std::vector<std::int32_t>& world_ranks) const {
  std::vector<std::int32_t> nodes;
  nodes.reserve(world_ranks.size());
  for (const std::int32_t rank : world_ranks) nodes.push_back(nodes_[static_cast<std::size_t>(rank)]);
  std::sort(nodes.begin(), nodes.end());
  return std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end();
}

std::uint32_t Process::together(const std::vector<std::int32_t>& world_ranks) const {
  std::vector<std::int32_t> seen;  // the nodes, by their first rank of those
  std::uint32_t most = 1;
  std::uint32_t here = 0;
  for (const std::int32_t rank : world_ranks) {
    const std::int32_t node = nodes_[static_cast<std::size_t>(rank)];
    if (seen.empty() || seen.back() != node) {
      seen.push_back(node);
      here = 0;
    }
    most = std::max(most, ++here);
  }
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end() ? most : 1;
}

}  // namespace urakata::shim
