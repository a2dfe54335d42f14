#include "engine/kernel.hpp"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

namespace urakata::engine {

ConduitTransport::ConduitTransport(const transport::Failures& failures)
    : failures_(failures), news_(epoll_create1(EPOLL_CLOEXEC)) {}

ConduitTransport::~ConduitTransport() {
  if (news_ >= 0) close(news_);
}

void ConduitTransport::add(chain::Conduit& conduit) {
  const std::lock_guard guard(lock_);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(news_, EPOLL_CTL_ADD, conduit.descriptor(), &event);
  conduits_.push_back(&conduit);
}

void ConduitTransport::remove(chain::Conduit& conduit) {
  const std::lock_guard guard(lock_);
  epoll_ctl(news_, EPOLL_CTL_DEL, conduit.descriptor(), nullptr);
  std::erase(conduits_, &conduit);
}

// Instances that engine kernel runs post no messages of their own.
int ConduitTransport::send(const transport::Message&, transport::Ticket, bool*) { return failures_.code; }
int ConduitTransport::recv(const transport::Message&, transport::Ticket, bool*) { return failures_.code; }

std::span<const transport::Completion> ConduitTransport::poll() {
  const std::lock_guard guard(lock_);
  done_.clear();
  for (chain::Conduit* conduit : conduits_) conduit->reap(done_);
  reported_.clear();
  for (const chain::Conduit::Done& one : done_) {
    reported_.push_back({{one.whose, Instance::kWhole, 0}, one.failed ? failures_.code : 0});
  }
  return reported_;
}

std::size_t ConduitTransport::in_flight() const {
  const std::lock_guard guard(lock_);
  std::size_t sum = 0;
  for (const chain::Conduit* conduit : conduits_) sum += conduit->in_flight();
  return sum;
}

// Nothing can be taken back: the connections end, and with them soon what is in flight.
std::size_t ConduitTransport::cancel(const void* instance) {
  const std::lock_guard guard(lock_);
  for (chain::Conduit* conduit : conduits_) {
    if (conduit->runs(instance)) conduit->discard();
  }
  return 0;
}

// Peers see their connections end.
void ConduitTransport::tell(std::int32_t, const transport::Notice& notice) {
  const std::lock_guard guard(lock_);
  for (chain::Conduit* conduit : conduits_) {
    if (conduit->context() == notice.origin) conduit->discard();
  }
}

void KernelEngine::start_all(Domain::Starts starts) {
  if (starts.empty()) return;
  while (!domain().try_own()) sched_yield();
  domain().begin(starts);
  domain().disown();
}

}  // namespace urakata::engine
