// SPDX-License-Identifier: BSD-3-Clause
#include "observe/observer.hpp"

#include <string>

namespace urakata::observe {
namespace {

std::uint64_t hash(const void* address, std::uint64_t other) {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u;
  h ^= other * 0xc2b2ae3d27d4eb4fu;
  return h ^ (h >> 29);
}

}  // namespace

Observer::Observer(bool timeline, std::uint32_t progress_threads, std::uint32_t spans)
    : others_({.operation = "(others)"}, "more call sites than the report keeps apart", kMaxCallSites),
      other_messages_({.operation = "(others)"}, kMaxCallSites) {
  if (!timeline) return;
  for (std::uint32_t i = 0; i < progress_threads; ++i) {
    tracks_.push_back(std::make_unique<Track>("progress thread " + std::to_string(i), spans));
  }
}

CallSite* Observer::call_site(const CallSiteKey& key, std::string_view why) {
  const auto python = reinterpret_cast<std::uintptr_t>(key.python) * 0x165667b19e3779f9u;
  CallSite* const site = sites_.find(hash(key.address, key.bytes) ^ python, key, why);
  return site != nullptr ? site : &others_;
}

MessageSite* Observer::message_site(const MessageKey& key) {
  MessageSite* const site = message_sites_.find(hash(key.address, key.carrier.size()), key);
  return site != nullptr ? site : &other_messages_;
}

std::vector<const CallSite*> Observer::call_sites() const {
  std::vector<const CallSite*> all = sites_.all();
  if (others_.started.load(std::memory_order_relaxed) != 0) all.push_back(&others_);
  return all;
}

std::vector<const MessageSite*> Observer::message_sites() const {
  std::vector<const MessageSite*> all = message_sites_.all();
  if (other_messages_.messages.load(std::memory_order_relaxed) != 0) all.push_back(&other_messages_);
  return all;
}

}  // namespace urakata::observe
