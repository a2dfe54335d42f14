// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/checker_results.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace urakata::schedule {
namespace {

class Results {
 public:
  Results(std::span<const Schedule> schedules, const Expectation& expectation, Terms& terms,
          std::span<const std::vector<Contents>> contents)
      : schedules_(schedules), expectation_(expectation), terms_(terms), contents_(contents) {}

  Status check() {
    for (std::uint32_t r = 0; r < schedules_.size(); ++r) {
      const RankExpectation& mine = expectation_.ranks[r];
      for (const auto& result : mine.results) {
        const Contributions first = terms_.contributions(result.contributions);
        const auto end = result.offset + static_cast<std::int64_t>(result.bytes);
        if (Status status = holds(r, result.buffer, result.offset, end, first); !status) return status;
        if (Status status = made_alike(r, result, first); !status) return status;
      }
      for (std::size_t buffer = 0; buffer < mine.buffers.size(); ++buffer) {
        if (!mine.buffers[buffer].keep_rest) continue;
        if (Status status = kept(r, static_cast<BufferId>(buffer)); !status) return status;
      }
    }
    return Nothing{};
  }

 private:
  Status holds(std::uint32_t r, BufferId buffer, std::int64_t begin, std::int64_t end, Contributions first) const {
    const std::int64_t start = begin;
    for (const Run& run : contents_[r][buffer].read(begin, end)) {
      const Contributions wanted{first.row, first.base + (begin - start)};
      if (const Contributions found = terms_.contributions(run.first); found != wanted) {
        return Error{"schedule " + schedules_[r].name() + ", rank " + std::to_string(r) + ": byte " +
                     std::to_string(begin) + " of buffer " + std::to_string(buffer) + " ends as " +
                     terms_.describe(found) + " instead of " + terms_.describe(wanted)};
      }
      begin += static_cast<std::int64_t>(run.bytes);
    }
    return Nothing{};
  }

  // Ranks that get the same result have combined it alike, so it has the same bits.
  Status made_alike(std::uint32_t r, const RankExpectation::Result& result, Contributions first) {
    const auto end = result.offset + static_cast<std::int64_t>(result.bytes);
    auto runs = contents_[r][result.buffer].read(result.offset, end);
    const auto [found, fresh] = made_.try_emplace({first, result.bytes}, r, runs);
    const auto& [other, theirs] = found->second;
    if (fresh || runs == theirs) return Nothing{};
    const auto [mine, other_run] = std::ranges::mismatch(runs, theirs);
    return Error{"schedule " + schedules_[r].name() + ", rank " + std::to_string(r) + ": buffer " +
                 std::to_string(result.buffer) + " is combined as " + terms_.describe(mine->first.expression) +
                 ", but on rank " + std::to_string(other) + " as " + terms_.describe(other_run->first.expression) +
                 ", so their bits may differ"};
  }

  Status kept(std::uint32_t r, BufferId buffer) const {
    const RankExpectation& mine = expectation_.ranks[r];
    std::vector<std::pair<std::int64_t, std::int64_t>> covered;
    for (const auto& result : mine.results) {
      if (result.buffer != buffer) continue;
      covered.push_back({result.offset, result.offset + static_cast<std::int64_t>(result.bytes)});
    }
    std::sort(covered.begin(), covered.end());
    covered.push_back({mine.buffers[buffer].end, mine.buffers[buffer].end});
    std::int64_t at = mine.buffers[buffer].begin;
    for (const auto& [begin, end] : covered) {
      if (begin > at) {
        if (Status status = holds(r, buffer, at, begin, terms_.contributions(contents_[r][buffer].initial(at)));
            !status)
          return status;
      }
      at = std::max(at, end);
    }
    return Nothing{};
  }

  std::span<const Schedule> schedules_;
  const Expectation& expectation_;
  Terms& terms_;
  std::span<const std::vector<Contents>> contents_;
  // By contributions and size: the first rank that has this result, and how it was made there.
  std::map<std::pair<Contributions, std::uint64_t>, std::pair<std::uint32_t, std::vector<Run>>> made_;
};

}  // namespace

Status check_results(std::span<const Schedule> schedules, const Expectation& expectation, Terms& terms,
                     std::span<const std::vector<Contents>> contents) {
  return Results(schedules, expectation, terms, contents).check();
}

}  // namespace urakata::schedule
