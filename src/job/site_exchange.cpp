#include "job/site_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/site_list.hpp"
#include "job/sites.hpp"

namespace urakata::job {

namespace {

// The error is on every rank.
Result<std::string> list_of_rank_0(Bootstrap& world, std::string_view wish) {
  struct Head {
    std::uint64_t bytes = 0;
    bool bad = false;
  } head;
  std::string text;
  if (world.rank() == 0) {
    Result<std::string> read = site_list_text(wish);
    head.bad = !read.ok();
    text = read.ok() ? *read : read.error().message;
    head.bytes = text.size();
  }
  if (!world.broadcast(std::as_writable_bytes(std::span(&head, 1)), 0)) return Error{"the host refuses"};
  text.resize(head.bytes);
  if (!world.broadcast(std::as_writable_bytes(std::span(text)), 0)) return Error{"the host refuses"};
  if (head.bad) return Error{text};
  return text;
}

Result<Sites> listed_sites(Bootstrap& world, const Network& network, std::string_view wish,
                           std::string_view host_name) {
  std::array<char, 256> name{};
  std::ranges::copy(host_name.substr(0, name.size() - 1), name.begin());
  const auto names = world.gathered(name);
  const Result<std::string> text = list_of_rank_0(world, wish);
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
