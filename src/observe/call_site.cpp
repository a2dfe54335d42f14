// SPDX-License-Identifier: BSD-3-Clause
#include "observe/call_site.hpp"

#include <algorithm>

#include "observe/sum.hpp"

namespace urakata::observe {

void Times::add(std::uint64_t ns) {
  observe::add(count_, 1);
  observe::add(sum_, ns);
  note_least(min_, ns);
  note_most(max_, ns);
}

CallSite::CallSite(const CallSiteKey& key, std::string_view why, std::uint32_t number)
    : operation_(key.operation),
      engine_(key.engine),
      algorithm_(key.algorithm),
      why_(why),
      address_(key.address),
      python_(key.python),
      bytes_(key.bytes),
      number_(number) {}

bool CallSite::matches(const CallSiteKey& key) const {
  return address_ == key.address && python_ == key.python && bytes_ == key.bytes && operation_ == key.operation &&
         engine_ == key.engine && algorithm_ == key.algorithm;
}

void ObservedInstance::started(std::uint64_t begin) {
  *this = ObservedInstance();
  begin_ = begin;
}

void ObservedInstance::returned(std::uint64_t end, const ProfiledThread& thread) {
  returned_ = end;
  thread_ = &thread;
  in_calls_ = thread.in_calls(end);
}

void ObservedInstance::at(CallSite* site) {
  site_ = site;
  add(site->started, 1);
  site->start.add(returned_ - begin_);
}

void ObservedInstance::finished(std::uint64_t begin, std::uint64_t end, const ProfiledThread& thread, const Work& work,
                                const Identity& identity) {
  if (site_ == nullptr) return;
  const std::uint64_t done = done_ == 0 ? end : done_;
  const std::uint64_t between = begin > returned_ ? begin - returned_ : 0;
  // If another thread started the instance, only its unsuccessful tests are known of the calls in between.
  const std::uint64_t in_calls = thread_ == &thread ? thread.in_calls(begin) : 0;
  const std::uint64_t calls = std::max(in_calls > in_calls_ ? in_calls - in_calls_ : 0, tests_);
  const std::uint64_t gap = between > calls ? between - calls : 0;
  const std::uint64_t in_flight = done > begin_ ? done - begin_ : 0;
  const std::uint64_t until = std::min(done, begin);
  const std::uint64_t overlap = until > returned_ ? until - returned_ : 0;
  site_->gap.add(gap);
  if (tests_ != 0) site_->test.add(tests_);
  site_->wait.add(end - begin);
  Identity kept = identity;
  if (kept.ranks == 0) kept.sequence = site_->wait.count();  // by which Samples chooses
  site_->in_flight.add(in_flight);
  site_->overlapped.add(std::min(overlap, gap));
  site_->samples.add({kept, begin_, returned_, begin, end, done, tests_, calls, work});
  site_ = nullptr;
}

}  // namespace urakata::observe
