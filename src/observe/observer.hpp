// SPDX-License-Identifier: BSD-3-Clause
// The observer of one process: call sites, sites of the program's own messages, and time lines of progress threads.
// report.hpp writes what it has seen to a file.
//
// A process has an observer only if a report was asked for, so observing costs one branch when off. In the shim:
//     if (observer != nullptr) request.observed.at(observer->call_site(key, why));
//
// Thread-safety: all members by any thread at any time, without a lock. Only call_site() and message_site() allocate on
// the fast path, at the first sight of a key. Sites live as long as the observer.
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
      CallSiteTable<CallSite, CallSiteKey>::kMost;  // all further keys share one site, "(others)"
  static constexpr std::uint32_t kSpans = 1 << 16;

  // `timeline`: whether to have `progress_threads` tracks of `spans` spans each.
  explicit Observer(bool timeline, std::uint32_t progress_threads = 0, std::uint32_t spans = kSpans);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // The site of `key`, never nullptr. `why` is kept at the first sight of the key. See CallSite.
  CallSite* call_site(const CallSiteKey& key, std::string_view why);
  // The site of `key`, never nullptr. There may be kMaxCallSites of these, too.
  MessageSite* message_site(const MessageKey& key);

  // The track of a progress thread; nullptr: it has none.
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
