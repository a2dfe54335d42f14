// SPDX-License-Identifier: BSD-3-Clause
#include "job/job.hpp"

#include <sys/random.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/options/options.hpp"
#include "job/differences.hpp"

namespace urakata::job {

namespace {

constexpr unsigned kIdentityAt = 34;  // lowest bit of the identity in the first word that ranks exchange
constexpr std::uint32_t kIdentityMask = (1U << (64 - kIdentityAt)) - 1;

template <class Function>
void for_each_equal(Function function) {
  for (const Option& option : option_table()) {
    if (option.agreement == Agreement::equal) function(option);
  }
}

// Not 0.
std::uint32_t drawn_identity() {
  std::uint32_t drawn = 0;
  if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) drawn = static_cast<std::uint32_t>(now_ns());
  return (drawn & kIdentityMask) | 1U;
}

std::string differing_options(std::span<const std::span<const std::uint64_t>> values) {
  std::vector<std::string_view> names;
  for_each_equal([&](const Option& option) { names.push_back(option.name); });
  return differences(names, values);
}

}  // namespace

Facts own_facts() {
  Facts facts;
  facts.identity = drawn_identity();
  facts.engine = options().engine != EngineKind::native;
  facts.kernel = options().engine == EngineKind::kernel;
  for_each_equal([&](const Option& option) { facts.options.push_back(hash(option_value(option))); });
  return facts;
}

bool Job::agree(Bootstrap& bootstrap, const Facts& own) {
  // One message of words. The first: identity, a bit whether the engine is kernel, a bit whether there is an engine,
  // contexts. The others: the options.
  const std::size_t words = 1 + own.options.size();
  std::vector<std::uint64_t> mine{
      (std::uint64_t{own.identity & kIdentityMask} << kIdentityAt) | (own.engine ? std::uint64_t{1} << 32U : 0) |
      (own.kernel ? std::uint64_t{1} << 33U : 0) | static_cast<std::uint32_t>(own.contexts)};
  mine.insert(mine.end(), own.options.begin(), own.options.end());
  std::vector<std::uint64_t> all(words * bootstrap.ranks());
  if (!bootstrap.allgather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)))) return false;

  const auto record = [&](std::size_t rank) { return std::span(all).subspan(rank * words, words); };
  const auto options_of = [&](std::size_t rank) { return record(rank).subspan(1); };
  identity_ = static_cast<std::uint32_t>(record(0)[0] >> kIdentityAt);
  std::vector<std::int32_t> kinds(bootstrap.ranks());
  std::size_t native_ranks = 0;
  std::size_t first_native = 0;
  std::size_t kernels = 0;
  std::size_t first_kernel = 0;
  std::size_t first_other = 0;  // 0: none differs from rank 0
  contexts_ = own.contexts;
  for (std::size_t rank = bootstrap.ranks(); rank-- > 0;) {
    contexts_ = std::min(contexts_, static_cast<std::int32_t>(record(rank)[0]));
    std::size_t like = 0;
    while (!std::ranges::equal(options_of(like), options_of(rank))) ++like;
    kinds[rank] = static_cast<std::int32_t>(like);
    if (like != 0) first_other = rank;
    if ((record(rank)[0] >> 33U & 1U) != 0) {
      ++kernels;
      first_kernel = rank;
    }
    if ((record(rank)[0] >> 32U & 3U) == 0) {
      ++native_ranks;
      first_native = rank;
    }
  }
  if (native_ranks != 0) {
    if (native_ranks != bootstrap.ranks() && first_native == bootstrap.rank()) {
      log::warning(
          "ENGINE is native on %zu of %zu ranks, this one the first: everything is left to the MPI library on all of "
          "them",
          native_ranks, bootstrap.ranks());
    }
    return false;
  }
  all_kernel_ = kernels == bootstrap.ranks();
  if (kernels != 0 && !all_kernel_ && first_kernel == bootstrap.rank()) {
    log::warning("not engine kernel: ENGINE is kernel on %zu of %zu ranks only, this one the first", kernels,
                 bootstrap.ranks());
  }
  if (first_other != 0) {
    if (first_other == bootstrap.rank()) {
      std::vector<std::span<const std::uint64_t>> values;
      for (std::size_t rank = 0; rank < bootstrap.ranks(); ++rank) values.push_back(options_of(rank));
      log::warning(
          "other values than rank 0's: %s; the non-blocking collectives of communicators whose ranks differ are "
          "left to the MPI library",
          differing_options(values).c_str());
    }
    kinds_ = std::move(kinds);
  }
  return true;
}

bool Job::meet(Bootstrap& bootstrap, std::int32_t leader, NodeRanks& node_ranks) {
  // The ranks first exchange the lengths of their masks, then no more words than the longest: the MPI library keeps the
  // memory that it allocates for longer messages.
  struct RankRecord {
    std::int32_t leader = 0;
    std::int32_t words = 0;  // of the mask, up to the last that is not 0
  };
  const auto records = bootstrap.gathered(RankRecord{leader, static_cast<std::int32_t>(node_ranks.mask.used_words())});
  if (records.empty()) return false;
  const auto longest = static_cast<std::size_t>(std::ranges::max(records, {}, &RankRecord::words).words);
  std::vector<std::uint64_t> words(records.size() * longest);
  if (!bootstrap.allgather(std::as_bytes(std::span(node_ranks.mask.words()).first(longest)),
                           std::as_writable_bytes(std::span(words)))) {
    return false;
  }
  for (const RankRecord& record : records) nodes_.push_back(record.leader);
  node_ranks.ranks = static_cast<std::size_t>(std::ranges::count(nodes_, leader));
  node_ranks.rank = static_cast<std::size_t>(
      std::count(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(bootstrap.rank()), leader));
  std::size_t which = 0;  // of the node's ranks
  for (std::size_t other = 0; other < records.size(); ++other) {
    if (nodes_[other] != leader) continue;
    node_ranks.note(which++, CpuSet::from_words({words.data() + other * longest, longest}));
  }
  return true;
}

bool Job::note_crowded(Bootstrap& bootstrap, bool crowded) {
  const auto all = bootstrap.gathered(static_cast<std::uint8_t>(crowded));
  if (all.empty()) return false;
  crowded_.assign(all.size(), false);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != 0) crowded_[static_cast<std::size_t>(nodes_[rank])] = true;
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    crowded_[rank] = crowded_[static_cast<std::size_t>(nodes_[rank])];
  }
  return true;
}

bool Job::alike(Ranks ranks) const {
  if (kinds_.empty()) return true;
  const auto kind = [&](std::int32_t rank) { return kinds_[static_cast<std::size_t>(rank)]; };
  return std::ranges::adjacent_find(ranks, std::not_equal_to{}, kind) == ranks.end();
}

bool Job::same_node(Ranks ranks) const {
  const auto node = [&](std::int32_t rank) { return nodes_[static_cast<std::size_t>(rank)]; };
  return std::ranges::adjacent_find(ranks, std::not_equal_to{}, node) == ranks.end();
}

bool Job::nodes_apart(Ranks ranks) const {
  std::vector<std::int32_t> nodes;
  nodes.reserve(ranks.size());
  for (const std::int32_t rank : ranks) nodes.push_back(nodes_[static_cast<std::size_t>(rank)]);
  std::ranges::sort(nodes);
  return std::ranges::adjacent_find(nodes) == nodes.end();
}

std::uint32_t Job::ranks_per_node(Ranks ranks) const {
  std::vector<std::int32_t> seen;  // the node of each series of ranks on one node
  std::uint32_t most = 1;
  std::uint32_t here = 0;
  for (const std::int32_t rank : ranks) {
    const std::int32_t node = nodes_[static_cast<std::size_t>(rank)];
    if (seen.empty() || seen.back() != node) {
      seen.push_back(node);
      here = 0;
    }
    most = std::max(most, ++here);
  }
  std::ranges::sort(seen);
  return std::ranges::adjacent_find(seen) == seen.end() ? most : 1;
}

bool Job::crowded(Ranks ranks) const {
  return std::ranges::any_of(ranks, [&](std::int32_t rank) { return crowded_[static_cast<std::size_t>(rank)]; });
}

}  // namespace urakata::job
