// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/frame_sender.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace urakata::xdp {

FrameSender::~FrameSender() { close(socket_); }

void FrameSender::join(std::vector<Side> sides) {
  sides_ = std::move(sides);
  slot_.port = own_.address.sin_port;
  slot_.answered = 0;
}

void FrameSender::send(std::uint32_t to, ura_xdp_kind kind, std::uint32_t number, std::uint32_t form) {
  ++counts_.frames;
  if (kind == URA_XDP_REQUEST) ++counts_.requests;
  if (kind == URA_XDP_ASK) ++counts_.questions;
  const Side& side = sides_[to];
  ura_xdp_header header{};
  header.magic = URA_XDP_MAGIC;
  header.kind = static_cast<__u16>(kind);
  header.from = static_cast<__u16>(cells_.rank());
  header.user = side.user;
  header.slot = side.slot;
  header.from_user = own_.user;
  header.from_slot = own_.slot;
  header.token = slot_.token;
  header.number = number;
  header.form = form;
  header.finished = cells_.finished();
  // A request is as long as its answer, since eBPF code turns the one into the other. Its payload is not read.
  const std::size_t bytes = kind == URA_XDP_DATA || kind == URA_XDP_REQUEST ? URA_XDP_BYTES_OF(form) : 0;
  std::array<iovec, 2> parts = {iovec{&header, sizeof header}, iovec{cells_.own_row(number), bytes}};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_in*>(&side.address);
  message.msg_namelen = sizeof side.address;
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);  // a frame that is not sent is asked for like a lost one
}

bool FrameSender::has_answered(std::uint32_t other) {
  const __u64 before = __atomic_fetch_and(&slot_.answered, ~static_cast<__u64>(bit(other)), __ATOMIC_RELAXED);
  return (before & bit(other)) != 0;
}

bool FrameSender::ebpf_is_there() {
  ura_xdp_header header{};
  const ssize_t got = recv(socket_, &header, sizeof header, MSG_DONTWAIT | MSG_TRUNC);
  return got < static_cast<ssize_t>(sizeof header) || header.magic != URA_XDP_MAGIC || header.token != slot_.token;
}

}  // namespace urakata::xdp
