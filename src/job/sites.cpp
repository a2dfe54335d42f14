// SPDX-License-Identifier: BSD-3-Clause
#include "job/sites.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace urakata::job {

namespace {

struct NodePair {
  std::size_t one, other;
  std::uint32_t round_trip;  // us, at least kLan
};

// Joins the nodes of pairs whose round trip is at most `reach`. Returns for each node the lowest node joined with it.
std::vector<std::size_t> joined(const std::vector<NodePair>& pairs, std::size_t nodes, std::uint32_t reach) {
  std::vector<std::size_t> first(nodes);
  std::iota(first.begin(), first.end(), std::size_t{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodePair& pair : pairs) {
      if (pair.round_trip > reach || first[pair.one] == first[pair.other]) continue;
      first[pair.one] = first[pair.other] = std::min(first[pair.one], first[pair.other]);
      changed = true;
    }
  }
  return first;
}

// All members but `names` and `why`, from the site of each node.
Sites of_nodes(const Network& network, const std::vector<std::int32_t>& site, std::size_t count) {
  Sites sites;
  sites.count = count;
  for (const std::int32_t node : network.node) sites.of.push_back(site[static_cast<std::size_t>(node)]);
  sites.round_trip_us.assign(count * count, 0);
  if (network.round_trip_us.empty()) return sites;
  for (std::size_t one = 0; one < network.nodes; ++one) {
    for (std::size_t other = 0; other < network.nodes; ++other) {
      const std::uint32_t time = network.round_trip_us[one * network.nodes + other];
      if (one == other || time == 0) continue;
      const auto a = static_cast<std::size_t>(site[one]);
      const auto b = static_cast<std::size_t>(site[other]);
      std::uint32_t& known = sites.round_trip_us[a * count + b];
      known = known == 0 ? time : a == b ? std::max(known, time) : std::min(known, time);
    }
  }
  return sites;
}

std::string milliseconds(std::uint32_t us) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), us < 1000 ? "%.2f ms" : "%.1f ms", us * 1e-3);
  return text.data();
}

Sites one_site(std::string why) {
  Sites sites;
  sites.why = std::move(why);
  return sites;
}

}  // namespace

Sites found_sites(const Network& network) {
  if (network.nodes < 2 || network.round_trip_us.empty()) return one_site(network.nothing);
  std::vector<NodePair> pairs;
  for (std::size_t one = 0; one < network.nodes; ++one) {
    for (std::size_t other = one + 1; other < network.nodes; ++other) {
      const std::uint32_t time = network.round_trip_us[one * network.nodes + other];
      if (time != 0) pairs.push_back({one, other, std::max(time, kLan)});
    }
  }
  std::vector<std::uint32_t> times{kLan};
  for (const NodePair& pair : pairs) times.push_back(pair.round_trip);
  std::ranges::sort(times);
  std::vector<std::pair<double, std::size_t>>
      gaps;  // the width of each gap, and the index of the time before it; sorted so that the widest is first
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double ratio = static_cast<double>(times[i + 1]) / times[i];
    if (ratio >= kGap) gaps.emplace_back(ratio, i);
  }
  std::ranges::stable_sort(gaps, std::ranges::greater{}, &std::pair<double, std::size_t>::first);
  for (const auto& [ratio, at] : gaps) {
    const std::vector<std::size_t> first = joined(pairs, network.nodes, times[at]);
    const bool apart = std::ranges::any_of(pairs, [&](const NodePair& pair) {
      return pair.round_trip > times[at] && first[pair.one] == first[pair.other];
    });
    if (apart) continue;
    std::vector<std::int32_t> site(network.nodes, -1);
    std::int32_t count = 0;
    for (std::size_t node = 0; node < network.nodes; ++node) {
      site[node] = first[node] == node ? count++ : site[first[node]];
    }
    Sites sites = of_nodes(network, site, static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < count; ++i) sites.names.push_back(std::to_string(i));
    sites.why = "round trips of " + milliseconds(times[at + 1]) + " and more between them, and of " +
                milliseconds(times[at]) + " at most inside";
    return sites;
  }
  return one_site("no gap in the round trips between nodes, which take " + milliseconds(times.back()) + " at most");
}

Result<Sites> given_sites(const SiteList& list, std::span<const std::string> host_names, const Network& network) {
  const Result<std::vector<std::size_t>> listed = sites_of_hosts(list, host_names);
  if (!listed.ok()) return listed.error();
  // The sites are numbered by their lowest node, as in found_sites().
  std::vector<std::int32_t> number(list.sites.size(), -1);
  std::vector<std::string> names;
  std::vector<std::int32_t> site;
  for (const std::size_t one : *listed) {
    std::int32_t& its = number[one];
    if (its < 0) {
      its = static_cast<std::int32_t>(names.size());
      names.push_back(list.sites[one].name);
    }
    site.push_back(its);
  }
  const std::size_t count = names.size();
  Sites sites = count > 1 ? of_nodes(network, site, count) : Sites{};
  sites.names = std::move(names);
  sites.why = "given by SITES";
  return sites;
}

std::string one_way_link(const Sites& sites, const Network& network) {
  if (sites.count < 2 || network.one_way.empty()) return "";
  const std::vector<std::int32_t> first = first_ranks(network);
  const auto site = [&](std::size_t node) {
    return static_cast<std::size_t>(sites.of[static_cast<std::size_t>(first[node])]);
  };
  std::vector<bool> joined(sites.count * sites.count);
  for (std::size_t at = 0; at < network.joined.size(); ++at) {
    if (network.joined[at]) joined[site(at / network.nodes) * sites.count + site(at % network.nodes)] = true;
  }
  for (std::size_t at = 0; at < network.one_way.size(); ++at) {
    const std::size_t from = at / network.nodes, to = at % network.nodes;
    if (!network.one_way[at] || site(from) == site(to) || joined[site(from) * sites.count + site(to)]) continue;
    return "the link between the sites " + sites.names[site(from)] + " and " + sites.names[site(to)] +
           " comes up one way only: TCP connections from the node of rank " + std::to_string(first[from]) +
           " to that of rank " + std::to_string(first[to]) + " do, those the other way do not (a firewall?)";
  }
  return "";
}

std::string described(const Sites& sites, const Network& network) {
  if (sites.count < 2) return "one site: " + sites.why;
  std::vector<std::vector<bool>> seen(sites.count, std::vector<bool>(network.nodes));
  for (std::size_t rank = 0; rank < sites.of.size(); ++rank) {
    seen[static_cast<std::size_t>(sites.of[rank])][static_cast<std::size_t>(network.node[rank])] = true;
  }
  std::string text = std::to_string(sites.count) + " sites (";
  for (std::size_t i = 0; i < sites.count; ++i) {
    const auto nodes = std::ranges::count(seen[i], true);
    text += (i == 0 ? "" : ", ") + sites.names[i] + ": " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  }
  return text + "): " + sites.why;
}

}  // namespace urakata::job
