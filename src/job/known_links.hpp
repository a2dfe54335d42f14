// SPDX-License-Identifier: BSD-3-Clause
// What earlier jobs measured of the links between sites: option LINK_RATES.
//
// The measurements are kept in a file that urakata-exec reads (exec/link_file.hpp) and that a job may add to. If there
// are several entries for the same two sites, the last one counts. Names of sites may change from job to job. So an
// entry names a site by its hosts, and matches a site that has one of them.
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
  bool outdated = false;  // whether a later job found other values: not to be used
};

struct KnownLinks {
  std::vector<KnownLink> links;
  std::string file;  // where the entries were read, and new ones are appended

  // The last entry for two sites with these hosts; nullptr: there is none, or the last one is outdated.
  const KnownLink* between(const std::vector<std::string>& here, const std::vector<std::string>& there) const;
};

// Values of the option besides the name of a file.
inline constexpr std::string_view kUsersLinks = "auto";
inline constexpr std::string_view kMeasureLinks = "measure";

// The text in which urakata-exec hands the file's content to the ranks, and its inverse. Error: the text does not have
// that form.
std::string handed_on(const KnownLinks& known);
Result<KnownLinks> read_known_links(std::string_view text);

// The entry as a TOML table of the file, after an empty line. `date`: of the measurement, "2026-01-31".
std::string entry(const KnownLink& link, std::string_view date);
// Appends entries to the file; makes the file, and the folders above it, if they do not exist. A concurrent reader sees
// all of the entries or none, since a new file replaces the old one. A job that appends at the same time waits for the
// lock of the other, up to a second for each attempt. If the file has grown beyond kMostOfFile, the oldest tables are
// removed. The error names the file and the reason; then the file's content is unchanged.
Status append_entries(const std::string& file, std::string_view entries);
inline constexpr std::size_t kMostOfFile = 96UL * 1024;  // bytes; the environment variable may have 128 KiB

// Success if this is a regular file of this process's effective user or of root, and others than its owner and group
// may not write it. Error: why not.
Status trusted(const std::string& file);

}  // namespace urakata::job
