#include "observe/observer.hpp"

#include <algorithm>
#include <string>

namespace urakata::observe {
namespace {

std::uint64_t hash(const CallSiteKey& key) {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(key.address) * 0x9e3779b97f4a7c15u;
  h ^= key.bytes * 0xc2b2ae3d27d4eb4fu;
  h ^= reinterpret_cast<std::uintptr_t>(key.python) * 0x165667b19e3779f9u;
  return h ^ (h >> 29);
}

}  // namespace

Observer::Observer(bool timeline, std::uint32_t helpers, std::uint32_t events)
    : others_({.operation = "(others)"}, "more call sites than the report keeps apart", kMaxCallSites) {
  if (!timeline) return;
  tracks_.push_back(std::make_unique<Track>("caller", events));
  for (std::uint32_t i = 0; i < helpers; ++i) {
    tracks_.push_back(std::make_unique<Track>("helper " + std::to_string(i), events));
  }
}

Observer::~Observer() {
  for (auto& cell : cells_) std::unique_ptr<CallSite>(cell.load(std::memory_order_relaxed)).reset();
}

CallSite* Observer::call_site(const CallSiteKey& key, std::string_view why) {
  std::unique_ptr<CallSite> fresh;
  for (std::uint64_t i = hash(key);; ++i) {
    auto& cell = cells_[i % kCells];
    CallSite* found = cell.load(std::memory_order_acquire);
    if (found == nullptr) {
      if (!fresh) {
        // A number that a thread took and then did not need, because another added the same key first, stays unused.
        std::uint32_t number = count_.load(std::memory_order_relaxed);
        do {
          if (number == kMaxCallSites) return &others_;
        } while (!count_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
        fresh = std::make_unique<CallSite>(key, why, number);
      }
      if (cell.compare_exchange_strong(found, fresh.get(), std::memory_order_release, std::memory_order_acquire)) {
        return fresh.release();
      }
    }
    if (found->matches(key)) return found;
  }
}

std::vector<const CallSite*> Observer::call_sites() const {
  std::vector<const CallSite*> all;
  for (const auto& cell : cells_) {
    if (const CallSite* site = cell.load(std::memory_order_acquire)) all.push_back(site);
  }
  if (others_.started.load(std::memory_order_relaxed) != 0) all.push_back(&others_);
  std::sort(all.begin(), all.end(), [](const CallSite* x, const CallSite* y) { return x->number() < y->number(); });
  return all;
}

}  // namespace urakata::observe
