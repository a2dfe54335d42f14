// SPDX-License-Identifier: BSD-3-Clause
#include "job/site_exchange.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "job/rank_0_text.hpp"
#include "job/site_list.hpp"
#include "job/sites.hpp"

namespace urakata::job {

namespace {

Result<Sites> listed_sites(Bootstrap& world, const Network& network, std::string_view wish,
                           std::string_view host_name) {
  std::array<char, 256> name{};
  std::ranges::copy(host_name.substr(0, name.size() - 1), name.begin());
  const auto names = world.gathered(name);
  const Result<std::string> text = text_of_rank_0(world, world.rank() == 0 ? site_list_text(wish) : std::string());
  if (!text.ok()) return text.error();
  const Result<SiteList> list = read_site_list(wish, *text);
  if (!list.ok()) return list.error();
  std::vector<std::string> of_nodes(network.nodes);
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    of_nodes[static_cast<std::size_t>(network.node[rank])] = names[rank].data();
  }
  return given_sites(*list, of_nodes, network);
}

}  // namespace

Result<Sites> settle_sites(Bootstrap& world, const Network& network, std::string_view wish,
                           std::string_view host_name) {
  if (SiteList::is_list(wish)) return listed_sites(world, network, wish, host_name);
  if (wish != SiteList::kOne) return found_sites(network);
  Sites sites;
  sites.why = "SITES=one";
  return sites;
}

}  // namespace urakata::job
