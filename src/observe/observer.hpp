// SPDX-License-Identifier: BSD-3-Clause
// The observer of one process: its call sites, its time line, and the file that they end up in.
//
// There is none unless a report was asked for, so that observing costs one branch when off. Usage, in the shim:
//     if (observer != nullptr) request.observed.at(observer->call_site(key, why));
//
// Contract. call_site(), message_site(), progress_thread() and Track::add may be called by any thread at any time. The
// first two allocate only at the first sight of a key; every other call on the fast path allocates nothing, and none
// takes a lock. Sites live as long as the observer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "observe/call_site.hpp"
#include "observe/call_site_table.hpp"
#include "observe/message_site.hpp"
#include "observe/timeline.hpp"

namespace urakata::observe {

class Observer {
 public:
  static constexpr std::uint32_t kMaxCallSites =
      CallSiteTable<CallSite, CallSiteKey>::kMost;  // from there on all further keys share one site, "(others)"
  static constexpr std::uint32_t kSpans = 1 << 16;

  // `progress_threads` tracks if there is a time line, of `spans` spans each.
  explicit Observer(bool timeline, std::uint32_t progress_threads = 0, std::uint32_t spans = kSpans);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  CallSite* call_site(const CallSiteKey& key, std::string_view why);
  MessageSite* message_site(const MessageKey& key);  // of the program's own messages; as many again

  // nullptr: there is no time line.
  Track* progress_thread(std::uint32_t number) { return number < tracks_.size() ? tracks_[number].get() : nullptr; }

  std::vector<const CallSite*> call_sites() const;  // in the order of first sight
  std::vector<const MessageSite*> message_sites() const;
  const std::vector<std::unique_ptr<Track>>& tracks() const { return tracks_; }

 private:
  CallSiteTable<CallSite, CallSiteKey> sites_;
  CallSiteTable<MessageSite, MessageKey> message_sites_;
  CallSite others_;
  MessageSite other_messages_;
  std::vector<std::unique_ptr<Track>> tracks_;  // constant after construction
};

}  // namespace urakata::observe
