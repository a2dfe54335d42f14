// SPDX-License-Identifier: BSD-3-Clause
// One TCP connection of transport `wire`: frames out and frames in, without ever blocking.
//
// A frame is a header of 24 bytes and, if its kind has one, a payload. Both processes run this program on the same kind
// of machine, so numbers travel as they lie in memory.
//
// A connection that this process makes may be lost before the other process has answered on it: that process computes
// and its accept queue is full, or it has closed the connection because it was silent for too long. begin_again() then
// makes the connection anew. Until the first answer, sent frames are kept for that, at most kMostKept bytes; beyond
// that, frames wait.
//
// Thread-safety: none; the Wire's lock is held around every call.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/frame.hpp"
#include "transport/wire/node_probe.hpp"

namespace urakata::transport {

class Connection {
 public:
  // What becomes of arriving frames.
  class Sink {
   public:
    virtual ~Sink() = default;
    // A frame has come; where its payload is to go: room for `frame.bytes`. nullptr: the connection is to be closed.
    // Called only for frames with a payload.
    virtual std::byte* place(Connection& from, const Frame& frame) = 0;
    // A frame has come, with all its payload. False: the connection is to be closed.
    virtual bool arrived(Connection& from, const Frame& frame) = 0;
  };

  // A frame on its way out. Its payload stays where it is until it is gone.
  struct Outgoing {
    Frame frame;
    const std::byte* payload = nullptr;
    std::vector<std::byte> packed = {};  // the payload, where it is ours
    bool reported = false;               // somebody waits for its end: see sent()
    void* port = nullptr;
    Ticket ticket = {};

    void keep_payload();  // a copy of it: it is the caller's again
  };

  // Takes the socket over, which may still be connecting, and enters it into the epoll set with a pointer to this.
  Connection(int socket, int epoll, bool connecting);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends as much as the kernel takes; the rest follows with flush(). True: all is gone, and `out` not kept.
  bool send(Outgoing&& out);
  // Sends a frame without payload whose end is not reported, before all queued frames but the first.
  void send_soon(Outgoing&& out);
  // The socket has room, or is connected. What has gone since and is `reported` is appended to `sent`. False: broken.
  bool flush(std::vector<Outgoing>& sent);
  // The socket has bytes. False: ended or broken.
  bool receive(Sink& sink);
  // For a broken connection: takes the frames that had reached this node before it broke. After an invalid frame
  // (EPROTO) it takes none.
  void receive_rest(Sink& sink);
  // All that was sent has been acknowledged by the other node's kernel, or the connection is broken.
  bool delivered() const;
  // From now on this epoll set watches the socket; -1: none does.
  void watched_by(int epoll);
  // Takes back the frames of `instance` that have not begun to go; the rest of one that has goes out of memory of ours,
  // and nobody waits for it. Returns how many there were.
  std::size_t take_back(const void* instance);
  std::uint64_t incoming() const { return frame_.bytes; }      // of the payload under way, all of it
  std::uint64_t come() const { return frame_.bytes - left_; }  // of it, so far
  // Bytes that have come of the payload under way, if it is that of such a frame; else 0.
  std::uint64_t come_of(FrameKind kind, std::uint64_t id) const {
    return left_ != 0 && frame_.kind == kind && frame_.id == id ? come() : 0;
  }
  // Bytes of payload that wait for room.
  std::uint64_t left_to_send() const;
  // The rest of the payload under way comes to its place in `room` instead, which has space for all of it.
  void divert(std::byte* room) { to_ = room + (frame_.bytes - left_); }
  // The kernel keeps so much of what comes before it is read, at least; each connection has 4 MiB from the start. By
  // itself the kernel lets a window grow by what its program has read in a round trip, less what is still to be read:
  // where that is late, and read frame by frame, it stays at its first 64 KiB (tcp_rcv_space_adjust() of Linux 6.16),
  // which a long link brings in less than a round trip. Unlike SO_RCVBUF this leaves all beyond to the kernel.
  void make_room(std::uint64_t bytes) const;
  // Has the other node shown no sign of life for `silence_ms`, although the kernel had asked for one at this call and
  // the one before? Or could the connection not be made in four calls? Then it breaks. False: broken.
  bool check(std::uint32_t silence_ms);

  // Whether the last check() found the connection silent.
  bool silent() const { return silent_ != 0; }
  void forget_silence() { silent_ = 0; }

  // For one of ours that is not open: what was sent goes again over another socket, which is connecting.
  void begin_again(int socket);
  bool connecting() const { return connecting_; }

  // Nothing more in or out, and no epoll set watches it.
  void end() { fail(0); }

  // The least time of a round trip so far, of the handshake's packets too; 0: not known.
  std::uint32_t round_trip_us() const;
  int socket() const { return socket_; }

  bool broken() const { return broken_; }
  int error() const { return error_; }  // errno of what broke it; 0: the other side closed it
  std::deque<Outgoing>& queue() { return queue_; }

  // For the owner.
  std::int32_t rank = -1;                     // of the process at the other end; -1: not yet known
  bool ours = false;                          // made by us
  bool open = false;                          // both have named the secret: messages may come
  bool named = false;                         // the other side has named the secret
  std::uint64_t accepted_ns = 0;              // when this process accepted it; 0: this process made it
  unsigned checks = 0;                        // checks by the owner while the other side has not named it
  unsigned renewed = 0;                       // times that it was made anew since its node last answered a probe
  std::unique_ptr<NodeProbe> node = nullptr;  // asked at the last check, while the process does not answer

 private:
  bool write(Outgoing& out);  // true: all of it is gone
  enum class Read : std::uint8_t { some, none, ended };
  Read read(Sink& sink);
  bool parse(Sink& sink);
  epoll_event interest();
  void watch(bool room);
  void keep(const Outgoing& out);
  bool may_write() const { return !ours || open || kept_bytes_ < kMostKept; }
  void wake_after(std::uint64_t bytes);
  bool fail(int code);

  static constexpr std::size_t kStage = 4096;
  static constexpr std::uint64_t kMostKept = 1024UL * 1024;

  int socket_;
  int epoll_;
  bool connecting_;
  bool watching_room_ = false;
  bool broken_ = false;
  int error_ = 0;
  unsigned silent_ = 0;  // checks in a row

  std::deque<Outgoing> queue_;
  std::vector<Outgoing> kept_;  // what was sent, of one of ours that is not open
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t gone_ = 0;  // bytes of the queue's first frame, header included

  // What has come in and is not yet understood: less than a header where no payload is under way, else nothing.
  std::array<std::byte, kStage> stage_;
  std::size_t staged_ = 0;
  Frame frame_;
  std::byte* to_ = nullptr;
  std::uint64_t left_ = 0;  // of the payload under way
  int low_water_ = 1;
};

}  // namespace urakata::transport
