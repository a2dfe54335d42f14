// SPDX-License-Identifier: BSD-3-Clause
// Whether the link has something to do: the epoll set of its connections, and what any thread may ask without the
// endpoint's lock.
//
// Thread-safety: const functions by any thread; the others by who has the endpoint's lock. All loads and stores are
// relaxed, since nothing is read on their word without the lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "transport/link/fork_watch.hpp"
#include "transport/link/link_settings.hpp"

namespace urakata::transport {

class LinkReadiness {
 public:
  // `check_ns`: from one check of the peers to the next. Settings and watch outlive this.
  LinkReadiness(const LinkSettings& settings, const ForkWatch& forks, std::uint64_t check_ns);
  ~LinkReadiness();
  LinkReadiness(const LinkReadiness&) = delete;
  LinkReadiness& operator=(const LinkReadiness&) = delete;

  // The epoll set; -1: it could not be made.
  int descriptor() const { return epoll_; }
  // Watches a descriptor for what can be read, and names it so. False: errno says why not.
  bool watch(int descriptor, void* name) const;

  // As WireLink has them.
  bool ready() const;
  void wait(std::uint64_t ns) const;
  void ask_next() const { asked_.store(0, std::memory_order_relaxed); }
  unsigned lost() const { return lost_peers_.load(std::memory_order_relaxed); }
  unsigned checks() const { return checks_.load(std::memory_order_relaxed); }
  bool sending() const { return sending_.load(std::memory_order_relaxed); }

  // poll() has something to do that no descriptor tells of.
  void note_more() { more_.store(true, std::memory_order_relaxed); }
  // Whether note_more() was called since the last take_more().
  bool take_more();
  void note_sending(bool sending) { sending_.store(sending, std::memory_order_relaxed); }
  void note_lost() { lost_peers_.fetch_add(1, std::memory_order_relaxed); }
  bool check_due() const;
  void note_check();

 private:
  const LinkSettings& settings_;
  const ForkWatch& forks_;
  const std::uint64_t check_ns_;
  const int epoll_;  // who connects, what was accepted for us, and all connections

  // Stored by who has the endpoint's lock, loaded by any thread.
  std::atomic<std::uint64_t> next_check_ns_;
  std::atomic<bool> more_{false};
  std::atomic<unsigned> lost_peers_{0};
  std::atomic<unsigned> checks_{0};
  std::atomic<bool> sending_{false};

  // By any thread.
  mutable std::atomic<unsigned> asked_{0};  // calls of ready()
};

}  // namespace urakata::transport
