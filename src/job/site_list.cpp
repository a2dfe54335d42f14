// SPDX-License-Identifier: BSD-3-Clause
#include "job/site_list.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/options/written.hpp"

namespace urakata::job {

namespace {

constexpr std::string_view kBlank = " \t\r,";

std::string_view word(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return rest = {};
  rest.remove_prefix(begin);
  const std::string_view found = rest.substr(0, rest.find_first_of(kBlank));
  rest.remove_prefix(found.size());
  return found;
}

Status add_line(SiteList& list, std::string_view line, const std::string& place) {
  line = line.substr(0, line.find('#'));
  if (line.find_first_not_of(kBlank) == std::string_view::npos) return Nothing{};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return Error{place + ": no colon; write a site as NAME: HOST HOST..."};
  }
  std::string_view name = line.substr(0, colon);
  SiteList::Site site{.name = std::string(word(name)), .patterns = {}, .place = place};
  if (site.name.empty() || !word(name).empty()) {
    return Error{place + ": a site has one word as its name before the colon; write NAME: HOST HOST..."};
  }
  for (const SiteList::Site& other : list.sites) {
    if (other.name == site.name) {
      return Error{place + ": site " + site.name + " is there already (" + other.place + "); give each its own name"};
    }
  }
  std::string_view rest = line.substr(colon + 1);
  for (std::string_view host = word(rest); !host.empty(); host = word(rest)) {
    for (const SiteList::Site& other : list.sites) {
      if (std::ranges::find(other.patterns, host) != other.patterns.end()) {
        return Error{place + ": host " + std::string(host) + " is at site " + other.name + " already (" + other.place +
                     "); a host is at one site"};
      }
    }
    site.patterns.emplace_back(host);
  }
  if (site.patterns.empty()) return Error{place + ": site " + site.name + " has no hosts; write NAME: HOST HOST..."};
  list.sites.push_back(std::move(site));
  return Nothing{};
}

}  // namespace

bool host_matches(std::string_view host, const std::string& pattern) {
  const std::string whole(host);
  return fnmatch(pattern.c_str(), whole.c_str(), 0) == 0 ||
         fnmatch(pattern.c_str(), whole.substr(0, whole.find('.')).c_str(), 0) == 0;
}

Result<std::size_t> site_of_host(const SiteList& list, std::string_view host) {
  const SiteList::Site* found = nullptr;
  for (const SiteList::Site& site : list.sites) {
    if (std::ranges::none_of(site.patterns, [&](const auto& pattern) { return host_matches(host, pattern); })) continue;
    if (found != nullptr) {
      return Error{site.place + ": host " + std::string(host) + " is also at site " + found->name + " (" +
                   found->place + "); a host is at one site"};
    }
    found = &site;
  }
  if (found != nullptr) return static_cast<std::size_t>(found - list.sites.data());
  return Error{list.sites.back().place + ": host " + std::string(host) +
               " of the job is at none of the sites; add it to one"};
}

Result<std::vector<std::size_t>> sites_of_hosts(const SiteList& list, std::span<const std::string> hosts) {
  for (const SiteList::Site& site : list.sites) {
    for (const std::string& pattern : site.patterns) {
      if (std::ranges::any_of(hosts, [&](const auto& host) { return host_matches(host, pattern); })) continue;
      std::string text = site.place + ": no host of the job is called " + pattern + "; its hosts are ";
      for (const std::string& host : hosts) text += (&host == &hosts.front() ? "" : ", ") + host;
      return Error{std::move(text)};
    }
  }
  std::vector<std::size_t> sites;
  for (const std::string& host : hosts) {
    const Result<std::size_t> site = site_of_host(list, host);
    if (!site.ok()) return site.error();
    sites.push_back(*site);
  }
  return sites;
}

namespace {

bool is_file(std::string_view value) { return value.find(':') == std::string_view::npos; }

}  // namespace

Result<std::string> site_list_text(std::string_view value) {
  std::string text(value);
  if (is_file(value)) {
    const std::string file = std::move(text);
    if (access(file.c_str(), R_OK) != 0) {
      return Error{"SITES: cannot read the file " + file + ": " + std::strerror(errno) +
                   "; write auto, one, a file, or the sites themselves, such as left:a1 a2;right:b*"};
    }
    text = file_bytes(file);
  } else {
    std::ranges::replace(text, ';', '\n');
  }
  return text;
}

Result<SiteList> read_site_list(std::string_view value, std::string_view text) {
  const std::string name = is_file(value) ? std::string(value) : "SITES";
  SiteList list;
  std::size_t number = 1;
  for (std::string_view rest = text; !rest.empty(); ++number) {
    const std::string place = name + (is_file(value) ? ", line " : ", site ") + std::to_string(number);
    if (Status added = add_line(list, written::cut(rest, '\n'), place); !added) return added.error();
  }
  if (list.sites.empty()) return Error{name + ": no site in it; write a line for each: NAME: HOST HOST..."};
  return list;
}

}  // namespace urakata::job
