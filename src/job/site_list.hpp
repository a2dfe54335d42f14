// SPDX-License-Identifier: BSD-3-Clause
// Option SITES: which hosts are at which site, as it is written.
//
//     left: node1 node2 node3     # a comment
//     right: cloud-*
//
// A line for each site, also separated by semicolons: its name, a colon, and host names or patterns for them (as in a
// shell: * ? [a-c]). A host is known by its whole name, or by the part of it that goes before the first dot.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace urakata::job {

struct SiteList {
  struct Site {
    std::string name;
    std::vector<std::string> patterns;
    std::string place;  // what an error about it begins with: "sites.txt, line 3"
  };
  std::vector<Site> sites;

  static constexpr std::string_view kFound = "auto";  // values of the option that are no list
  static constexpr std::string_view kOne = "one";
  static bool is_list(std::string_view value) { return !value.empty() && value != kFound && value != kOne; }
};

// The value of the option: a list if it has a colon in it, else a file that holds one. The error names file, line, what
// is wrong and what to write.
Result<std::string> site_list_text(std::string_view value);  // reads the file; a line for each site
// Which hosts there are is not looked at.
Result<SiteList> read_site_list(std::string_view value, std::string_view text);

bool host_matches(std::string_view host, const std::string& pattern);

// The site of a host, as its index in `sites`. An error, which begins with the line, where it is at two of them or at
// none.
Result<std::size_t> site_of_host(const SiteList& list, std::string_view host);
// Of each of a job's hosts. An error also where a pattern names none of them.
Result<std::vector<std::size_t>> sites_of_hosts(const SiteList& list, std::span<const std::string> hosts);

}  // namespace urakata::job
