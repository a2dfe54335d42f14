// SPDX-License-Identifier: BSD-3-Clause
#include "chain/ring.hpp"

#ifdef URAKATA_URING

#include <liburing.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace urakata::chain {
namespace {

// Room for results that wait until they are taken, in multiples of the room for requests. The kernel would keep further
// results aside, which costs it memory, and us a system call.
constexpr unsigned kResults = 4;
constexpr unsigned kLeast = 64;  // room for requests

std::string why(int code) {
  const std::string begin = "the kernel gives no io_uring (" + std::string(std::strerror(code)) + "): ";
  switch (code) {
    case ENOSYS:
      return begin + "it was built without, or is older than 5.19; nothing but another kernel helps";
    case EPERM:
    case EACCES:
      return begin +
             "it is switched off (sysctl kernel.io_uring_disabled=0 allows it), or a container's seccomp profile "
             "forbids it (docker run --security-opt seccomp=unconfined, or a profile with io_uring_setup, "
             "io_uring_enter and io_uring_register)";
    case ENOMEM:
      return begin + "the limit of locked memory is too low (ulimit -l)";
    case EMFILE:
    case ENFILE:
      return begin + "the limit of descriptors is too low (ulimit -n)";
    default:
      return begin + "see io_uring_setup(2)";
  }
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::open(unsigned requests) {
  std::unique_ptr<Ring> made(new Ring);
  made->ring_ = std::make_unique<io_uring>();
  const unsigned room = std::bit_ceil(std::max(requests, kLeast));
  io_uring_params wanted{};
  wanted.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL;
  wanted.cq_entries = room * kResults;
  if (const int code = io_uring_queue_init_params(room, made->ring_.get(), &wanted); code < 0) {
    made->ring_.reset();
    return Error{why(-code)};
  }
  made->room_ = room;
  made->results_ = wanted.cq_entries;
  made->told_ = made->ring_->cq.ktail;
  made->taken_ = made->ring_->cq.khead;
  io_uring_ring_dontfork(made->ring_.get());
  return made;
}

Ring::~Ring() {
  if (ring_) io_uring_queue_exit(ring_.get());
}

int Ring::descriptor() const { return ring_->ring_fd; }

void Ring::put(const Submission& request) {
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
  switch (request.kind) {
    case Kind::send:
      io_uring_prep_send(entry, request.descriptor, request.address, request.bytes, MSG_WAITALL | MSG_NOSIGNAL);
      break;
    case Kind::receive:
      io_uring_prep_recv(entry, request.descriptor, request.address, request.bytes, MSG_WAITALL);
      break;
    case Kind::read:
      io_uring_prep_read(entry, request.descriptor, request.address, request.bytes, 0);
      break;
    case Kind::write:
      io_uring_prep_write(entry, request.descriptor, request.address, request.bytes, 0);
      break;
  }
  entry->flags = static_cast<std::uint8_t>(request.linked ? IOSQE_IO_LINK : 0U);
  entry->user_data = request.number;
}

int Ring::submit() { return io_uring_submit(ring_.get()); }

bool Ring::take(Outcome& outcome) {
  io_uring_cqe* result = nullptr;
  if (io_uring_peek_cqe(ring_.get(), &result) != 0) return false;
  outcome = {.number = result->user_data, .value = result->res};
  io_uring_cqe_seen(ring_.get(), result);
  return true;
}

}  // namespace urakata::chain

#else

struct io_uring {};

namespace urakata::chain {

// NOLINTBEGIN(readability-convert-member-functions-to-static): as where there is a ring
Result<std::unique_ptr<Ring>> Ring::open(unsigned) { return Error{"Urakata was built without liburing"}; }
Ring::~Ring() = default;
int Ring::descriptor() const { return -1; }
void Ring::put(const Submission&) {}
int Ring::submit() { return -1; }
bool Ring::take(Outcome&) { return false; }
// NOLINTEND(readability-convert-member-functions-to-static)

}  // namespace urakata::chain

#endif
