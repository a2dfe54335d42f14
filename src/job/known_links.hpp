// SPDX-License-Identifier: BSD-3-Clause
// What links between sites carry, as it was measured before: option LINK_RATES.
//
// Kept in a file that urakata-exec reads (exec/link_file.hpp) and a job may add to: of several entries for the same
// sites the last counts. Sites have no names that last; an entry knows them by the names of their
// hosts, and one host of a site stands for all of it.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/link_facts.hpp"
#include "base/result.hpp"

namespace urakata::job {

struct KnownLink {
  std::vector<std::string> one, other;  // hosts of the two sites, or patterns for them (job/site_list.hpp)
  LinkFacts facts;
  bool outdated = false;  // a job found something else: not to be used
};

struct KnownLinks {
  std::vector<KnownLink> links;
  std::string file;

  // The last entry for two sites with these hosts; nullptr: there is none, or it is outdated.
  const KnownLink* between(const std::vector<std::string>& here, const std::vector<std::string>& there) const;
};

// Values of the option besides the name of a file.
inline constexpr std::string_view kUsersLinks = "auto";
inline constexpr std::string_view kMeasureLinks = "measure";

// The form in which urakata-exec hands the file's content to the ranks, and back. Error: it is none of that form.
std::string handed_on(const KnownLinks& known);
Result<KnownLinks> read_known_links(std::string_view text);

// As a table of the file, with an empty line before it. `date`: when it was measured, "2026-01-31".
std::string entry(const KnownLink& link, std::string_view date);
// Appends; makes the file, and folders above it, where there are none. Whoever reads the file meanwhile has all of the
// entries or none: they are written beside it, and the new file takes its place. Of jobs that append at the same time
// one waits for the other, for a second at most. Of a file that has grown beyond kMostOfFile the oldest tables go. The
// error names it and the reason; the file is as it was then.
Status append_entries(const std::string& file, std::string_view entries);
inline constexpr std::size_t kMostOfFile = 96UL * 1024;  // bytes; a variable, by which it is handed on, has 128 KiB

// Is that a file which nobody but its user, those of its group, or root could have written? Error: why it is not.
Status trusted(const std::string& file);

}  // namespace urakata::job
