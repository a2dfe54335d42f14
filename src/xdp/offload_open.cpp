// SPDX-License-Identifier: BSD-3-Clause
// How an offload begins: its slot and socket, the others' sides, and whether their nodes answer.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "base/system_error.hpp"
#include "xdp/offload.hpp"
#include "xdp/path.hpp"

namespace urakata::xdp {

namespace {

constexpr unsigned kHeaders = 20 + 8 + sizeof(ura_xdp_header);  // IPv4 and UDP

std::uint32_t most_of(std::uint32_t packet) {
  return packet > kHeaders ? std::min<std::uint32_t>(packet - kHeaders, URA_XDP_BYTES) : 0;
}

}  // namespace

Result<std::unique_ptr<Offload>> Offload::open(const sockaddr_in& other, std::uint64_t timeout_ns) {
  const auto path = path_to(other);
  if (!path.ok()) return path.error();
  auto table = Table::open(path->interface);
  if (!table.ok()) return table.error();
  return over(*table, path->address, most_of(path->bytes), timeout_ns);
}

Result<std::unique_ptr<Offload>> Offload::over(const std::shared_ptr<Table>& table, const sockaddr_in& own,
                                               std::uint64_t timeout_ns) {
  return over(table, own, URA_XDP_BYTES, timeout_ns);
}

Result<std::unique_ptr<Offload>> Offload::over(const std::shared_ptr<Table>& table, const sockaddr_in& own,
                                               std::uint32_t most, std::uint64_t timeout_ns) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return system_error("making a socket");
  sockaddr_in bound = own;
  socklen_t length = sizeof bound;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&bound), sizeof bound) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    const Error why = system_error("binding a socket");
    close(socket);
    return why;
  }
  ura_xdp_slot* const slot = table->claim();
  if (slot == nullptr) {
    close(socket);
    return Error{"all " + std::to_string(URA_XDP_SLOTS) + " slots of this user at the interface are in use"};
  }
  const Side side{bound, static_cast<std::uint16_t>(slot->user), table->number_of(*slot), most, table->ops()};
  return std::unique_ptr<Offload>(new Offload(table, *slot, socket, side, timeout_ns));
}

void Offload::join(std::vector<Side> sides, std::uint32_t rank, std::uint64_t token) {
  const ura_xdp_ops& ops = side().ops;
  most_ = std::ranges::min(sides, {}, &Side::most).most;
  same_ops_ = std::ranges::all_of(sides, [&](const Side& one) { return std::memcmp(&one.ops, &ops, sizeof ops) == 0; });
  const auto ranks = static_cast<std::uint32_t>(sides.size());
  cells_.join(rank, ranks);
  frames_.join(std::move(sides));
  retransmission_.join(ranks);
  __atomic_store_n(&slot_.token, token, __ATOMIC_SEQ_CST);
}

Status Offload::greet() {
  constexpr unsigned kTries = 20;
  constexpr useconds_t kTry = 10'000;
  const auto still_silent = [this] { return (bit(cells_.ranks()) - 1) & ~frames_.answered() & ~bit(cells_.rank()); };
  std::uint32_t silent = still_silent();
  for (unsigned attempt = 0; attempt < kTries && silent != 0; ++attempt) {
    for (std::uint32_t other = 0; other < cells_.ranks(); ++other) {
      if ((silent & bit(other)) != 0) frames_.ping(other);
    }
    usleep(attempt == 0 ? 200 : kTry);
    silent = still_silent();
  }
  if (silent == 0) return Nothing{};
  const auto first = static_cast<unsigned>(std::countr_zero(silent));
  return Error{"eBPF code at the interface of the communicator's rank " + std::to_string(first) +
               " does not answer: its interface cannot send from there (try urakata kernel attach --generic), or "
               "frames do not pass"};
}

std::optional<std::uint32_t> Offload::op_named(std::string_view name, std::uint64_t element) const {
  if (!same_ops_ || name.empty()) return std::nullopt;
  for (std::uint32_t number = 0; number < URA_XDP_OPS; ++number) {
    const auto& one = side().ops.of[number];
    if (name == one.name && element == one.bytes) return URA_XDP_OWN + number;
  }
  return std::nullopt;
}

}  // namespace urakata::xdp
