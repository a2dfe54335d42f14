// SPDX-License-Identifier: BSD-3-Clause
// What a job knows of its links before it measures: rank 0's option LINK_RATES (job/known_links.hpp), and what becomes
// of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/network.hpp"
#include "base/result.hpp"
#include "job/bootstrap.hpp"
#include "job/link_rates.hpp"

namespace urakata::job {

struct KnownRates {
  std::string file;                             // rank 0's, which is added to; empty: there is none
  LinkTable of;                                 // of each pair of sites
  std::vector<std::vector<std::string>> hosts;  // of each site, each once
  std::vector<std::string> changed;             // of links that are not what the file says: a line each
};

// By how much, as a factor, what was measured and what is known may differ.
inline constexpr double kTolerance = 4.0 / 3;

// Collective, and the same on each rank: what rank 0's file says, of pairs of sites whose round trip is still what it
// was. `value`: the option's; `host_name`: of this node. Error: the MPI library refuses, or rank 0's value is none that
// can be read.
Result<KnownRates> known_rates(Bootstrap& world, const Sites& sites, std::string_view value,
                               std::string_view host_name);

// Entries for the file, of the pairs that `before` lacks and `now` has. Empty: none.
std::string new_entries(const KnownRates& before, const LinkTable& now, const Sites& sites);

// Which of the links did not carry what is known of them: judged where their ranks have sent enough to tell.
// What a rank has sent to a site while it was busiest, as Stripes reports it (transport/stripes/stripes.hpp).
struct Carried {
  std::uint64_t bytes_in_all = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::uint32_t connections = 0;
};
struct Misjudged {
  std::size_t one = 0, other = 0;  // sites
  double carried = 0;              // bytes/s
  double known = 0;                // bytes/s that such connections should carry
};
// `carried`: of each rank and site, row by row.
std::vector<Misjudged> misjudged(std::span<const Carried> carried, const LinkRates& links, const Sites& sites);
// An entry for each.
std::string outdated_entries(const KnownRates& known, std::span<const Misjudged> wrong);

}  // namespace urakata::job
