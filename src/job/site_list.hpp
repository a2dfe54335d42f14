// SPDX-License-Identifier: BSD-3-Clause
// Option SITES: the text that says which hosts are at which site.
//
//     left: node1 node2 node3     # a comment
//     right: cloud-*
//
// A line for each site: its name, a colon, and host names or patterns for them (as in a shell: * ? [a-c]). In the
// option's value itself, semicolons stand for the line ends. A host is known by its whole name, or by the part of its
// name before the first dot.
//
// Thread-safety: all by any thread.
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
    std::string place;  // what an error about the site begins with: "sites.txt, line 3"
  };
  std::vector<Site> sites;

  static constexpr std::string_view kFound = "auto";  // kFound and kOne: values of the option that give no list
  static constexpr std::string_view kOne = "one";
  static bool is_list(std::string_view value) { return !value.empty() && value != kFound && value != kOne; }
};

// `value`: a value of the option for which is_list() holds: a list if it has a colon in it, else the name of a file
// with a list. Errors name the place, what is wrong, and what to write.
Result<std::string> site_list_text(std::string_view value);  // the list, a line for each site; reads the file
// The list from its text. Does not check that the hosts exist.
Result<SiteList> read_site_list(std::string_view value, std::string_view text);

bool host_matches(std::string_view host, const std::string& pattern);

// The site of a host, as an index in list.sites, which is not empty. Error: the host is at two sites or at none.
Result<std::size_t> site_of_host(const SiteList& list, std::string_view host);
// The site of each of a job's hosts. Error: as site_of_host(), or a pattern matches none of the hosts.
Result<std::vector<std::size_t>> sites_of_hosts(const SiteList& list, std::span<const std::string> hosts);

}  // namespace urakata::job
