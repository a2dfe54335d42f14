#include "transport/wire.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/log.hpp"
#include "base/socket_watch.hpp"

namespace urakata::transport {

namespace {

int on(int socket, int level, int name) {
  const int one = 1;
  return setsockopt(socket, level, name, &one, sizeof one);
}

Error cannot(const char* what) {
  return Error{std::string("cannot ") + what + " for messages between nodes: " + std::strerror(errno) +
               "; the host carries them"};
}

}  // namespace

Result<std::unique_ptr<Wire>> Wire::open(std::int32_t rank, Secret secret, int failure) {
  std::unique_ptr<Wire> wire(new Wire(rank, secret, failure));
  wire->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (wire->epoll_ < 0) return cannot("make an epoll set");
  // One door for IPv6 and IPv4, or for IPv4 where there is no IPv6.
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_addr = in6addr_any;
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  plain.sin_addr.s_addr = htonl(INADDR_ANY);
  const int no = 0;
  wire->door_ = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (wire->door_ >= 0) {
    setsockopt(wire->door_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(wire->door_, reinterpret_cast<sockaddr*>(&both), sizeof both) != 0) {
      close(wire->door_);
      wire->door_ = -1;
    }
  }
  if (wire->door_ < 0) {
    wire->door_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wire->door_ < 0) return cannot("make a socket");
    if (bind(wire->door_, reinterpret_cast<sockaddr*>(&plain), sizeof plain) != 0) return cannot("bind a socket");
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (listen(wire->door_, SOMAXCONN) != 0 || getsockname(wire->door_, reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return cannot("listen on a socket");
  SocketWatch::leave_out(wire->door_);
  // Both kinds of address have the port at the same place.
  wire->door_number_ = ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the door
  if (epoll_ctl(wire->epoll_, EPOLL_CTL_ADD, wire->door_, &event) != 0) return cannot("watch a socket");
  return wire;
}

Wire::~Wire() {
  knocks_.clear();
  peers_.clear();
  arrivals_.clear();
  if (door_ >= 0) {
    SocketWatch::closed(door_);
    close(door_);
  }
  if (epoll_ >= 0) close(epoll_);
}

Wire::Peer& Wire::peer(std::int32_t rank) { return peers_[rank]; }

void Wire::greet(Connection& to, FrameKind kind) {
  to.send({.frame = {.kind = kind, .tag = rank_, .bytes = secret_.low, .id = secret_.high}});
}

Connection* Wire::connect_to(const Door& door, std::int32_t rank, FrameKind first) {
  const int made = socket(door.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return nullptr;
  on(made, IPPROTO_TCP, TCP_NODELAY);
  const int code = connect(made, reinterpret_cast<const sockaddr*>(&door.address), door.length);
  if (code != 0 && errno != EINPROGRESS) {
    close(made);
    return nullptr;
  }
  auto* connection = new Connection(made, epoll_, true);
  connection->rank = rank;
  connection->ours = true;
  greet(*connection, first);
  return connection;
}

void Wire::answer_door() {
  for (;;) {
    const int made = accept4(door_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (made < 0) return;
    on(made, IPPROTO_TCP, TCP_NODELAY);
    arrivals_.push_back(std::make_unique<Connection>(made, epoll_, false));
  }
}

void Wire::knock(std::span<const Door> doors, std::int32_t rank) {
  const std::lock_guard guard(lock_);
  for (const Door& door : doors) {
    knocks_.push_back({.connection = std::unique_ptr<Connection>(connect_to(door, rank, FrameKind::knock))});
  }
}

int Wire::opened() {
  const std::lock_guard guard(lock_);
  const auto found = std::ranges::find_if(knocks_, [](const Knock& knock) { return knock.opened; });
  return found == knocks_.end() ? -1 : static_cast<int>(found - knocks_.begin());
}

void Wire::end_knocking() {
  const std::lock_guard guard(lock_);
  knocks_.clear();
}

// --- sending ---------------------------------------------------------------------------------------------------------

bool Wire::send(WirePort& port, const Message& message, Ticket ticket) {
  const std::lock_guard guard(lock_);
  Peer& to = peer(message.peer);
  if (!to.out) {
    to.out.reset(connect_to(doors_[static_cast<std::size_t>(message.peer)], message.peer, FrameKind::hello));
    if (!to.out) {
      log::error("cannot connect to rank %d: %s; run with --transport host if nodes cannot reach each other",
                 message.peer, std::strerror(errno));
      complete(port, ticket, failure_);
      return false;
    }
  }
  if (to.out->broken()) {
    complete(port, ticket, failure_);
    return false;
  }
  const bool gone = send(to,
                         {.frame = {.kind = FrameKind::message, .tag = message.tag, .bytes = message.bytes},
                          .payload = message.address,
                          .reported = true,
                          .port = &port,
                          .ticket = ticket},
                         message);
  if (to.out->broken()) lost(*to.out);
  return gone;
}

bool Wire::send(Peer& to, Connection::Outgoing&& out, const Message& message) {
  if (message.layout != nullptr) {
    out.packed.resize(message.bytes);
    message.layout->pack(message.address, 0, message.bytes / message.layout->size, out.packed.data());
    out.payload = out.packed.data();
  }
  if (message.bytes <= kEager) return to.out->send(std::move(out));
  const std::uint64_t id = to.next_id++;
  to.out->send({.frame = {.kind = FrameKind::announce, .tag = message.tag, .bytes = message.bytes, .id = id}});
  out.frame.kind = FrameKind::payload;
  out.frame.id = id;
  to.waiting.emplace(id, std::move(out));
  return false;
}

void Wire::granted(Peer& to, std::uint64_t id) {
  const auto found = to.waiting.find(id);
  if (found == to.waiting.end()) return;
  Connection::Outgoing out = std::move(found->second);
  to.waiting.erase(found);
  auto& port = *static_cast<WirePort*>(out.port);
  const Ticket ticket = out.ticket;
  if (to.out->send(std::move(out))) complete(port, ticket, 0);
}

void Wire::report(const Connection::Outgoing& sent) {
  if (sent.port != nullptr) complete(*static_cast<WirePort*>(sent.port), sent.ticket, 0);
}

// --- receiving -------------------------------------------------------------------------------------------------------

// True: it is finished already, with `*error`.
bool Wire::recv(WirePort& port, const Message& message, Ticket ticket, int* error) {
  const std::lock_guard guard(lock_);
  Peer& from = peer(message.peer);
  Posted receive{.port = &port, .ticket = ticket, .message = message};
  if (message.layout != nullptr) receive.packed.resize(message.bytes);
  const auto found = std::ranges::find_if(
      from.early, [&](const auto& early) { return early->tag == message.tag && early->taker == nullptr; });
  if (found == from.early.end()) {
    if (from.in != nullptr && from.in->broken()) {
      *error = failure_;
      return true;
    }
    from.posted.push_back(std::move(receive));
    return false;
  }
  Early& early = **found;
  if (early.announced) {
    const std::uint64_t id = early.id;
    const std::uint64_t bytes = early.bytes;
    from.early.erase(found);
    if (bytes > message.bytes) {
      *error = too_long(bytes, message.bytes);
      return true;
    }
    grant(from, id, std::move(receive));
    if (from.in->broken()) lost(*from.in);
    return false;
  }
  if (!early.whole) {
    early.taker = std::make_unique<Posted>(std::move(receive));
    return false;
  }
  *error = deliver(early, receive);
  from.early.erase(found);
  return true;
}

int Wire::deliver(Early& early, Posted& receive) {
  if (early.bytes <= receive.message.bytes && early.bytes != 0) {
    std::memcpy(receive.room(), early.payload.data(), early.bytes);
  }
  return unpack(receive, early.bytes);
}

int Wire::too_long(std::uint64_t bytes, std::uint64_t room) {
  log::error("a message of %llu bytes came for a receive of %llu", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(room));
  return failure_;
}

void Wire::grant(Peer& to, std::uint64_t id, Posted&& receive) {
  to.granted.emplace(id, std::move(receive));
  to.in->send({.frame = {.kind = FrameKind::grant, .id = id}});
}

// `bytes` have been put into the receive's room, if they fit. 0, or an error code.
int Wire::unpack(Posted& receive, std::uint64_t bytes) {
  const Message& message = receive.message;
  if (bytes > message.bytes) return too_long(bytes, message.bytes);
  if (message.layout != nullptr && bytes != 0) {
    message.layout->unpack(receive.packed.data(), message.address, 0, bytes / message.layout->size);
  }
  return 0;
}

std::byte* Wire::place(Connection& from, const Frame& frame) {
  if (from.rank < 0 || from.ours) return nullptr;
  Peer& sender = peer(from.rank);
  if (frame.kind == FrameKind::payload) {
    const auto found = sender.granted.find(frame.id);
    if (found == sender.granted.end() || frame.bytes > found->second.message.bytes) return nullptr;
    sender.current = std::make_unique<Posted>(std::move(found->second));
    sender.granted.erase(found);
    return sender.current->room();
  }
  const auto found =
      std::ranges::find_if(sender.posted, [&](const Posted& one) { return one.message.tag == frame.tag; });
  if (found == sender.posted.end()) {
    if (frame.bytes > kEager) return nullptr;
    auto early = std::make_unique<Early>();
    early->tag = frame.tag;
    early->bytes = frame.bytes;
    early->payload.resize(frame.bytes);
    sender.current_early = early.get();
    sender.early.push_back(std::move(early));
    return sender.current_early->payload.data();
  }
  sender.current = std::make_unique<Posted>(std::move(*found));
  sender.posted.erase(found);
  if (frame.bytes <= sender.current->message.bytes) return sender.current->room();
  sender.thrown_away.resize(frame.bytes);
  return sender.thrown_away.data();
}

bool Wire::arrived(Connection& from, const Frame& frame) {
  const bool secret = frame.bytes == secret_.low && frame.id == secret_.high;
  switch (frame.kind) {
    case FrameKind::hello:
      if (from.ours || from.rank >= 0 || !secret || frame.tag < 0) return false;
      from.rank = frame.tag;
      peer(from.rank).in = &from;
      return true;
    case FrameKind::knock:
      if (from.ours || !secret) return false;
      greet(from, FrameKind::welcome);
      return true;
    case FrameKind::welcome: {
      if (!from.ours || !secret) return false;
      const auto knock = std::ranges::find_if(knocks_, [&](const Knock& one) { return one.connection.get() == &from; });
      if (knock == knocks_.end()) return false;
      knock->opened = frame.tag == from.rank;
      return true;
    }
    case FrameKind::grant:
      if (!from.ours) return false;
      granted(peer(from.rank), frame.id);
      return true;
    case FrameKind::announce:
      return from.rank >= 0 && !from.ours && announced(peer(from.rank), frame);
    case FrameKind::message:
    case FrameKind::payload:
      if (from.rank < 0 || from.ours) return false;
      break;
    default:
      return false;
  }
  Peer& sender = peer(from.rank);
  if (frame.bytes == 0) place(from, frame);  // nobody has asked for room
  if (sender.current) {
    const auto receive = std::move(sender.current);
    complete(*receive->port, receive->ticket, unpack(*receive, frame.bytes));
  } else {
    Early& early = *std::exchange(sender.current_early, nullptr);
    early.whole = true;
    if (early.taker) {
      complete(*early.taker->port, early.taker->ticket, deliver(early, *early.taker));
      std::erase_if(sender.early, [&](const auto& one) { return one.get() == &early; });
    }
  }
  return true;
}

bool Wire::announced(Peer& from, const Frame& frame) {
  const auto found = std::ranges::find_if(from.posted, [&](const Posted& one) { return one.message.tag == frame.tag; });
  if (found == from.posted.end()) {
    auto early = std::make_unique<Early>();
    early->tag = frame.tag;
    early->bytes = frame.bytes;
    early->announced = true;
    early->id = frame.id;
    from.early.push_back(std::move(early));
    return true;
  }
  Posted receive = std::move(*found);
  from.posted.erase(found);
  if (frame.bytes > receive.message.bytes) {
    complete(*receive.port, receive.ticket, too_long(frame.bytes, receive.message.bytes));
  } else {
    grant(from, frame.id, std::move(receive));
  }
  return true;
}

// --- progress --------------------------------------------------------------------------------------------------------

void Wire::put(WirePort& port, const Ticket& ticket, int error) {
  const std::lock_guard guard(lock_);
  complete(port, ticket, error);
}

void Wire::complete(WirePort& port, const Ticket& ticket, int error) {
  port.finished_.push_back({ticket, error});
  if (&port == polling_ || port.told_) return;
  port.told_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(port.news_, &one, sizeof one);
}

void Wire::lose_receives(Peer& peer) {
  if (peer.current) complete(*peer.current->port, peer.current->ticket, failure_);
  peer.current.reset();
  for (auto& early : peer.early) {
    if (early->taker) complete(*early->taker->port, early->taker->ticket, failure_);
    early->taker.reset();
  }
  for (const Posted& one : peer.posted) complete(*one.port, one.ticket, failure_);
  peer.posted.clear();
  for (const auto& [id, one] : peer.granted) complete(*one.port, one.ticket, failure_);
  peer.granted.clear();
}

// A connection has ended. That is the usual end of a peer from whom we want nothing more; else its messages are lost.
void Wire::lost(Connection& connection) {
  if (connection.rank < 0) return;
  const auto knock =
      std::ranges::find_if(knocks_, [&](const Knock& one) { return one.connection.get() == &connection; });
  if (knock != knocks_.end()) return;
  const auto found = peers_.find(connection.rank);
  if (found == peers_.end()) return;
  Peer& other = found->second;
  bool wanted = false;
  if (connection.ours) {
    for (const Connection::Outgoing& out : connection.queue()) {
      wanted = true;
      if (out.port != nullptr) complete(*static_cast<WirePort*>(out.port), out.ticket, failure_);
    }
    connection.queue().clear();
    for (const auto& [id, out] : other.waiting) {
      wanted = true;
      complete(*static_cast<WirePort*>(out.port), out.ticket, failure_);
    }
    other.waiting.clear();
  } else if (other.in == &connection) {
    wanted = other.current || !other.posted.empty() || !other.granted.empty() || other.current_early != nullptr;
    lose_receives(other);
  }
  if (wanted) {
    log::error("lost the connection to rank %d: %s", connection.rank,
               connection.error() == 0 ? "its process has ended" : std::strerror(connection.error()));
  }
}

void Wire::poll(WirePort* port) {
  const std::lock_guard guard(lock_);
  polling_ = port;
  std::array<epoll_event, 32> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  bool ended = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == nullptr) {
      answer_door();
      continue;
    }
    Connection& connection = *static_cast<Connection*>(event.data.ptr);
    if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) {
      sent_.clear();
      connection.flush(sent_);
      for (const Connection::Outgoing& out : sent_) report(out);
    }
    if ((event.events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && !connection.broken()) connection.receive(*this);
    if (connection.broken()) {
      lost(connection);
      ended = true;
    }
  }
  // Those that nobody can ask for any more; a peer's own stay, so that later messages see that they are broken.
  if (ended) {
    std::erase_if(arrivals_, [](const auto& one) { return one->broken() && one->rank < 0; });
  }
  if (port != nullptr && port->told_) {
    port->told_ = false;
    std::uint64_t word = 0;
    [[maybe_unused]] const auto got = read(port->news_, &word, sizeof word);
  }
  if (port != nullptr) port->reported_.swap(port->finished_);
  polling_ = nullptr;
}

WirePort::WirePort(Wire& wire) : wire_(wire), news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WirePort::~WirePort() {
  if (news_ >= 0) close(news_);
}

int WirePort::send(const Message& message, Ticket ticket, bool* finished) {
  return posted(wire_.send(*this, message, ticket), 0, ticket, finished);
}

int WirePort::recv(const Message& message, Ticket ticket, bool* finished) {
  int error = 0;
  const bool there = wire_.recv(*this, message, ticket, &error);
  return posted(there, error, ticket, finished);
}

int WirePort::posted(bool done, int error, Ticket ticket, bool* finished) {
  if (finished != nullptr) {
    *finished = done;
  } else if (done) {
    wire_.put(*this, ticket, error);
    error = 0;
  }
  if (finished == nullptr || !done) ++in_flight_;
  return error;
}

std::span<const Completion> WirePort::poll() {
  reported_.clear();
  wire_.poll(this);
  in_flight_ -= reported_.size();
  return reported_;
}

}  // namespace urakata::transport
