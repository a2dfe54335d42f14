// SPDX-License-Identifier: BSD-3-Clause
// What a job knows of its links before it measures, from rank 0's option LINK_RATES (job/known_links.hpp), and which
// entries the job adds to the file.
//
// Thread-safety: known_rates() as Bootstrap; all else by any thread.
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
  std::string file;                             // rank 0's, to which entries are added; empty: there is none
  LinkTable of;                                 // of each pair of sites
  std::vector<std::vector<std::string>> hosts;  // of each site, each host once
  std::vector<std::string> changed;             // a line for each link whose round trip is not the file's
};

// The factor by which measured and known values may differ.
inline constexpr double kTolerance = 4.0 / 3;

// Collective; the same result on each rank. What rank 0's file says of pairs of sites, without those whose round trip
// is known to be another one now. `value`: of option LINK_RATES; `host_name`: of this node. Error: the MPI library
// reports an error, or rank 0's value cannot be read.
Result<KnownRates> known_rates(Bootstrap& world, const Sites& sites, std::string_view value,
                               std::string_view host_name);

// Entries for the file, for the pairs of sites that `before` lacks and `now` has. Empty: there are none.
std::string new_entries(const KnownRates& before, const LinkTable& now, const Sites& sites);

// What a rank has sent to a site in all, and in the fastest busy period, as Stripes::busiest() reports it.
struct Carried {
  std::uint64_t bytes_in_all = 0;
  std::uint64_t bytes = 0;  // in the fastest period, as are the next two; 0: the rank has sent too little to tell
  double seconds = 0;
  std::uint32_t connections = 0;
};
struct Misjudged {
  std::size_t one = 0, other = 0;  // sites
  double carried = 0;              // bytes/s
  double known = 0;                // bytes/s that such connections should carry
};
// The links that carried more or less than is known of them, by more than kTolerance. `carried`: a row for each rank,
// with an element for each site. A link is judged by the rank that has sent most over it, if that was enough to tell.
std::vector<Misjudged> misjudged(std::span<const Carried> carried, const LinkRates& links, const Sites& sites);
// Entries for the file that mark the links in `wrong` as outdated.
std::string outdated_entries(const KnownRates& known, std::span<const Misjudged> wrong);

}  // namespace urakata::job
