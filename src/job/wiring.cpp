// SPDX-License-Identifier: BSD-3-Clause
#include "job/wiring.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/options/options.hpp"
#include "job/sites.hpp"

namespace urakata::job {

using transport::ListenAddress;
using transport::Wire;

namespace {

constexpr std::uint64_t kPreferred = 100'000'000;         // ns of a probe in which a better address may still answer
constexpr std::uint64_t kAnswerTimeout = 2'000'000'000;   // ns for one rank's addresses
constexpr std::uint64_t kProbingTimeout = 4'000'000'000;  // ns for all probes of a round
constexpr std::size_t kMostAddresses = 8;
constexpr std::size_t kAtOnce = 16;  // ranks that are probed at the same time
constexpr std::uint8_t kNone = 0xff;
constexpr unsigned kMostRounds = 3;  // of probes, if the round trips look as if there were several sites

// The round trip as ranks exchange it: a logarithm in steps of 1.1 %; 0: not known.
std::uint16_t code_of(std::uint32_t round_trip_us) {
  return round_trip_us == 0 ? std::uint16_t{0}
                            : static_cast<std::uint16_t>(1 + std::lround(64 * std::log2(round_trip_us)));
}
std::uint32_t round_trip_of(std::uint16_t code) {
  return code == 0 ? 0 : static_cast<std::uint32_t>(std::lround(std::exp2((code - 1) / 64.0)));
}

ListenAddress listen_address(const Address& address, std::uint16_t number) {
  ListenAddress listener;
  if (address.family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(listener.address);
    four.sin_family = AF_INET;
    four.sin_port = htons(number);
    std::memcpy(&four.sin_addr, address.bytes.data(), 4);
    listener.length = sizeof four;
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(listener.address);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(number);
    std::memcpy(&six.sin6_addr, address.bytes.data(), 16);
    listener.length = sizeof six;
  }
  return listener;
}

// This rank's WIRE_INTERFACE, also if the obstacle is another rank's: the options are equal in nearly every job.
std::string interface_asked() {
  const std::string_view name = options().wire_interface;
  return name.empty() ? "of the name in WIRE_INTERFACE" : std::string(name) + " (WIRE_INTERFACE)";
}

std::string_view text_of(WireFacts::Obstacle obstacle) {
  switch (obstacle) {
    case WireFacts::Obstacle::none:
      break;
    case WireFacts::Obstacle::asked:
      return "the MPI library was asked for";
    case WireFacts::Obstacle::descriptors:
      return "its limit of descriptors is too low (ulimit -n)";
    case WireFacts::Obstacle::system:
      return "the system refuses the sockets";
    case WireFacts::Obstacle::no_interface: {
      static const std::string text = "its node has no network interface " + interface_asked();
      return text;
    }
    case WireFacts::Obstacle::no_address: {
      static const std::string text = "its node has no address by interface " + interface_asked();
      return text;
    }
  }
  return "";
}

std::optional<transport::Secret> secret_of_job(Bootstrap& bootstrap) {
  transport::Secret secret;
  if (bootstrap.rank() == 0 && getrandom(&secret, sizeof secret, 0) != sizeof secret) secret = {};
  const bool told = bootstrap.broadcast(std::as_writable_bytes(std::span(&secret, 1)), 0);
  if (!told || secret == transport::Secret{}) return std::nullopt;
  return secret;
}

}  // namespace

// What a rank tells all others before the probes; of a fixed size.
struct Wiring::Contact {
  WireFacts::Obstacle obstacle = WireFacts::Obstacle::none;
  std::uint8_t fast = 0;
  std::uint16_t listen_port = 0;
  std::uint32_t addresses = 0;
  std::array<Address, kMostAddresses> address{};

  std::vector<ListenAddress> listen_addresses() const {
    std::vector<ListenAddress> all;
    for (std::size_t i = 0; i < addresses; ++i) all.push_back(listen_address(address[i], listen_port));
    return all;
  }
};

namespace {

// Probes the listen addresses of ranks, a few ranks at the same time, and notes for each the best address that
// answered.
class Round {
 public:
  Round(Wire& wire, std::vector<std::int32_t> ranks, std::vector<std::vector<ListenAddress>> listen_addresses)
      : wire_(wire),
        ranks_(std::move(ranks)),
        addresses_(std::move(listen_addresses)),
        chosen(ranks_.size(), kNone),
        round_trip_us(ranks_.size()) {}

  // Returns when all ranks have answered, or when the time is over.
  void run() {
    const std::uint64_t begin = now_ns();
    while (next_ < ranks_.size() || !active_.empty()) {
      for (; active_.size() < kAtOnce && next_ < ranks_.size(); ++next_) {
        wire_.prober().probe(addresses_[next_], ranks_[next_]);
        active_.push_back({next_, now_ns()});
      }
      wire_.step();
      const std::uint64_t now = now_ns();
      const bool late = now - begin > kProbingTimeout;
      std::erase_if(active_, [&](const Active& one) { return late || over(one, now - one.since); });
      if (late) break;
      sched_yield();
    }
    wire_.prober().end();
  }

 private:
  struct Active {
    std::size_t which;
    std::uint64_t since;
  };

  bool over(const Active& one, std::uint64_t waited) {
    const std::int32_t rank = ranks_[one.which];
    const transport::Prober::Answer answer = wire_.prober().answer(rank);
    const bool best = answer.opened >= 0 && (!answer.better_may_come || waited > kPreferred);
    if (!best && answer.more_may_come && waited <= kAnswerTimeout) return false;
    if (answer.opened >= 0) {
      chosen[one.which] = static_cast<std::uint8_t>(answer.opened);
      round_trip_us[one.which] = answer.round_trip_us;
    }
    wire_.prober().end(rank);
    return true;
  }

  Wire& wire_;
  const std::vector<std::int32_t> ranks_;
  const std::vector<std::vector<ListenAddress>> addresses_;
  std::vector<Active> active_;
  std::size_t next_ = 0;

 public:
  std::vector<std::uint8_t> chosen;  // for each rank, the index of its address; kNone: none has answered
  std::vector<std::uint32_t> round_trip_us;
};

}  // namespace

// What the ranks have found, and by which addresses. If network.nothing is not empty, only network.node and
// network.nodes are to be used.
struct Wiring::Found {
  Network network;
  std::vector<Contact> contacts;  // of each rank
  // chosen[rank * steps.size() + k]: index of the address by which the rank reaches the node steps[k] further on.
  std::vector<std::uint8_t> chosen;
  std::vector<std::uint32_t> round_trip_us;  // indexed as `chosen`: the least that the rank has seen; 0: not known
  std::vector<std::int32_t> first;           // of each node: the lowest rank with a wire, which probes; -1: none has
  std::vector<std::size_t> steps;            // each node probes the nodes that are so many places further on
};

Wiring::Found Wiring::find(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, const WireFacts& own,
                           transport::Failures& failures, std::uint64_t timeout_ns) {
  Found found;
  Network& network = found.network;
  const auto nothing = [&found](const char* why) {
    found.network.nothing = why;
    return std::move(found);
  };
  std::vector<std::int32_t> leaders(nodes.begin(), nodes.end());
  std::ranges::sort(leaders);
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  const std::size_t count = network.nodes = leaders.size();
  for (const std::int32_t leader : nodes) {
    network.node.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(leaders, leader) - leaders.begin()));
  }
  if (count == 1) return nothing("all ranks are on one node");
  const auto secret = secret_of_job(bootstrap);
  if (!secret) return nothing("the system has no random numbers for the job's secret");

  const auto rank = static_cast<std::int32_t>(bootstrap.rank());
  Contact mine{.obstacle = own.obstacle, .fast = static_cast<std::uint8_t>(own.fast)};
  if (mine.obstacle == WireFacts::Obstacle::none) {
    if (auto opened = Wire::open(rank, *secret, failures, timeout_ns, own.listens_at); opened.ok()) {
      wire_ = std::move(*opened);
      mine.listen_port = wire_->listen_port();
    } else {
      mine.obstacle = WireFacts::Obstacle::system;
    }
  }
  mine.addresses = static_cast<std::uint32_t>(std::min(own.addresses.size(), kMostAddresses));
  std::copy_n(own.addresses.begin(), mine.addresses, mine.address.begin());
  const std::vector<Contact>& contacts = found.contacts = bootstrap.gathered(mine);
  if (contacts.empty()) return nothing("the MPI library refuses");
  std::vector<std::int32_t>& first = found.first;
  first.assign(count, -1);
  for (const Contact& contact : contacts) {
    network.wire.push_back(contact.obstacle == WireFacts::Obstacle::none);
    network.better.push_back(contact.fast != 0);
  }
  for (std::size_t other = contacts.size(); other-- > 0;) {
    if (network.wire[other]) {
      first[static_cast<std::size_t>(network.node[other])] = static_cast<std::int32_t>(other);
    } else {
      const WireFacts::Obstacle obstacle = contacts[other].obstacle;
      network.obstacle = text_of(obstacle);
      network.misnamed = obstacle == WireFacts::Obstacle::no_interface || obstacle == WireFacts::Obstacle::no_address;
    }
  }

  for (std::size_t step = 1; step < count; step = count <= kAllPairs ? step + 1 : step * 2) found.steps.push_back(step);
  for (unsigned round = 0; round < kMostRounds; ++round) {
    if (!probe(bootstrap, found)) return nothing("the MPI library refuses");
    join(found);
    // A long round trip may come from a busy node instead of distance: the least of several rounds is near the truth.
    if (found_sites(network).count == 1) break;
  }
  return found;
}

// One round: each node probes those that it has to, and all ranks learn the results. False: the MPI library reports an
// error.
bool Wiring::probe(Bootstrap& bootstrap, Found& found) {
  struct Tried {
    std::uint8_t chosen = kNone;
    std::uint8_t high = 0, low = 0;  // of the round trip's code
  };
  const Network& network = found.network;
  std::vector<Tried> own(found.steps.size());
  const auto node = static_cast<std::size_t>(network.node[bootstrap.rank()]);
  if (found.first[node] == static_cast<std::int32_t>(bootstrap.rank())) {
    std::vector<std::int32_t> ranks;
    std::vector<std::vector<ListenAddress>> listen_addresses;
    for (const std::size_t step : found.steps) {
      ranks.push_back(found.first[(node + step) % network.nodes]);
      listen_addresses.push_back(ranks.back() >= 0
                                     ? found.contacts[static_cast<std::size_t>(ranks.back())].listen_addresses()
                                     : std::vector<ListenAddress>{});
    }
    Round round(*wire_, std::move(ranks), std::move(listen_addresses));
    round.run();
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::uint16_t code = code_of(round.round_trip_us[i]);
      own[i] = {round.chosen[i], static_cast<std::uint8_t>(code >> 8U), static_cast<std::uint8_t>(code)};
    }
  }
  // A rank that is done still answers the probes of others.
  bootstrap.meet([&] {
    if (wire_) wire_->step();
    sched_yield();
  });
  std::vector<Tried> all(own.size() * found.contacts.size());
  if (!bootstrap.allgather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)))) return false;
  found.chosen.resize(all.size(), kNone);
  found.round_trip_us.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].chosen != kNone) found.chosen[i] = all[i].chosen;
    const std::uint32_t now = round_trip_of(static_cast<std::uint16_t>(all[i].high << 8U | all[i].low));
    std::uint32_t& least = found.round_trip_us[i];
    if (least == 0 || (now != 0 && now < least)) least = now;
  }
  return true;
}

// Fills in which nodes reach each other, and the round trips between them.
void Wiring::join(Found& found) {
  const std::size_t count = found.network.nodes;
  const auto reaches = [&](std::size_t from, std::size_t step) {
    const auto prober = found.first[from];
    return prober >= 0 && found.chosen[static_cast<std::size_t>(prober) * found.steps.size() + step] != kNone;
  };
  bool sampled = true;  // whether all probes have succeeded
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t step = 0; step < found.steps.size(); ++step) sampled = sampled && reaches(from, step);
  }
  std::vector<bool>& joined = found.network.joined;
  std::vector<bool>& one_way = found.network.one_way;
  joined.assign(count * count, false);
  one_way.assign(count > kAllPairs ? 0 : count * count, false);
  for (std::size_t one = 0; one < count; ++one) {
    for (std::size_t other = one + 1; other < count; ++other) {
      const std::size_t there = one * count + other, back = other * count + one;
      if (count > kAllPairs) {
        joined[there] = joined[back] = sampled;
        continue;
      }
      const bool goes = reaches(one, other - one - 1), comes = reaches(other, count + one - other - 1);
      joined[there] = joined[back] = goes && comes;
      one_way[there] = goes && !comes;
      one_way[back] = comes && !goes;
    }
  }
  std::vector<std::uint32_t>& times = found.network.round_trip_us;
  times.assign(count * count, 0);
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t i = 0; i < found.steps.size(); ++i) {
      const std::size_t to = (from + found.steps[i]) % count;
      const auto prober = found.first[from];
      const std::uint32_t time =
          prober < 0 ? 0 : found.round_trip_us[static_cast<std::size_t>(prober) * found.steps.size() + i];
      std::uint32_t& least = times[from * count + to];
      if (time != 0 && (least == 0 || time < least)) least = times[to * count + from] = time;
    }
  }
}

void Wiring::set_up(Bootstrap& bootstrap, std::span<const std::int32_t> nodes, const WireFacts& own,
                    transport::Failures& failures, std::uint64_t timeout_ns, const Decide& decide) {
  const Found found = find(bootstrap, nodes, own, failures, timeout_ns);
  const std::vector<bool> by_wire = decide(found.network);
  if (by_wire.empty()) {
    wire_.reset();
  } else if (wire_) {
    set_addresses(found, by_wire, static_cast<std::int32_t>(bootstrap.rank()));
  }
}

void Wiring::set_addresses(const Found& found, const std::vector<bool>& by_wire, std::int32_t own_rank) {
  const std::vector<std::int32_t>& node_of = found.network.node;
  const std::size_t count = found.network.nodes;
  const auto own = static_cast<std::size_t>(node_of[static_cast<std::size_t>(own_rank)]);
  std::vector<ListenAddress> listen_addresses(node_of.size());
  for (std::size_t other = 0; other < listen_addresses.size(); ++other) {
    if (!by_wire[other]) continue;
    const auto node = static_cast<std::size_t>(node_of[other]);
    // If the probes are a sample, this node need not have probed that one. The node one place before it always has.
    const std::size_t from = count <= kAllPairs ? own : (node + count - 1) % count;
    const std::size_t step = count <= kAllPairs ? (node + count - own) % count - 1 : 0;
    const std::uint8_t which = found.chosen[static_cast<std::size_t>(found.first[from]) * found.steps.size() + step];
    const Contact& first = found.contacts[static_cast<std::size_t>(found.first[node])];
    listen_addresses[other] = listen_address(first.address[which], found.contacts[other].listen_port);
  }
  wire_->set_addresses(std::move(listen_addresses));
}

}  // namespace urakata::job
