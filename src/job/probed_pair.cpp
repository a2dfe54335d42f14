// SPDX-License-Identifier: BSD-3-Clause
#include "job/probed_pair.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"

namespace urakata::job {

namespace {

constexpr double kMostTimes = 4;  // a slow link is counted up to so many times counted_s
constexpr double kParts = 3;      // parts of the counted time, for steady()
constexpr double kDeviations = 3;
constexpr std::uint64_t kLeastCounted = 8 * transport::Stripes::kLeastPiece;
constexpr std::int32_t kDataTag = -1;  // tags that no group uses
constexpr std::int32_t kWordTag = -2;

}  // namespace

Loss Loss::between(const transport::Stripes::Packets& from, const transport::Stripes::Packets& until) {
  return {.packets = static_cast<double>(until.sent - std::min(until.sent, from.sent)),
          .again = static_cast<double>(until.again - std::min(until.again, from.again))};
}

Loss steady(const Loss& whole, const std::optional<Loss>& least) {
  if (!least || whole.packets == 0) return whole;
  const double share = std::min(least->packets / whole.packets, 1.0);
  const double chance = std::sqrt(whole.again * share * (1 - share));
  return least->again < whole.again * share - kDeviations * chance ? *least : whole;
}

// TCP tells how many bytes have arrived, those behind a lost packet included. Our own acknowledgements count such bytes
// only when the gap is filled, which may be after the counted time began, and would make the rate too large. They are
// used only if the kernel does not tell.
Counted ProbedPair::send(std::int32_t to) {
  const std::uint64_t begin = now_ns(), before = stripes_.traffic(to).acked;
  std::uint64_t sent = 0, acked = 0;
  double now = 0;
  std::optional<Sample> first, last, part;
  std::optional<Loss> least;
  do {
    for (; sent < acked + under_way(now, acked); sent += data_.size()) {
      post(true, kWordTag, to, std::span(&more_, 1));
      post(true, kDataTag, to, data_);
    }
    step();
    now = static_cast<double>(now_ns() - begin) * 1e-9;
    acked = stripes_.traffic(to).acked - before;
    if (!first && (now >= times_.settling_s || acked >= most_)) first = part = sample(to, acked, begin);
    if (first && !last && now - part->s >= times_.counted_s / kParts) {
      const Sample until = sample(to, acked, begin);
      const Loss lost = Loss::between(part->packets, until.packets);
      if (!least || lost.less_than(*least)) least = lost;
      part = until;
    }
    if (first && !last && enough(acked - first->acked, now - first->s)) last = sample(to, acked, begin);
  } while (!failed_ && (!last || (now - last->s < Times::kBeyond * times_.counted_s && acked - first->acked < most_)));
  post(true, kWordTag, to, std::span(&end_, 1));
  while (open_ != 0) step();
  while (!stripes_.settled()) sched_yield();  // no byte is left to be counted in the next measurement
  if (failed_) return {};
  const transport::Stripes::Packets &from = first->packets, &until = last->packets;
  const bool told = from.arrived != 0 && until.arrived > from.arrived;
  const std::uint64_t arrived = told ? until.arrived - from.arrived : last->acked - first->acked;
  return {.rate = static_cast<double>(arrived) / (last->s - first->s),
          .loss = steady(Loss::between(from, until), least)};
}

void ProbedPair::receive(std::int32_t from) {
  for (;;) {
    std::byte word{};
    post(false, kWordTag, from, std::span(&word, 1));
    while (open_ != 0) step();
    if (word == end_) return;
    post(false, kDataTag, from, data_);
    while (open_ != 0) step();
  }
}

// Time and counts of the same moment: taken again if this rank was off its core meanwhile.
ProbedPair::Sample ProbedPair::sample(std::int32_t to, std::uint64_t acked, std::uint64_t begin) {
  constexpr std::uint64_t kMostNs = 500'000;
  constexpr int kTries = 4;
  Sample taken{};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = now_ns();
    taken = {.s = 0, .acked = acked, .packets = stripes_.packets(to)};
    const std::uint64_t after = now_ns();
    taken.s = static_cast<double>(before + after - 2 * begin) * 0.5e-9;
    if (after - before <= kMostNs) break;
  }
  return taken;
}

// Whether enough has been counted to tell a rate.
bool ProbedPair::enough(std::uint64_t bytes, double seconds) const {
  if (bytes >= most_) return true;
  if (bytes == 0) return false;  // the other rank is off its core; if stripes are lost, `failed_` ends the wait
  return seconds >= times_.counted_s && (bytes >= kLeastCounted || seconds >= kMostTimes * times_.counted_s);
}

// Bytes that are to be under way: four times as many as arrived in a round trip, to grow faster than TCP's windows.
std::uint64_t ProbedPair::under_way(double now, std::uint64_t acked) {
  if (acked != 0 && now - trip_s_ >= times_.round_trip_s) {
    if (trip_s_ != 0) {
      const double in_trip = static_cast<double>(acked - trip_acked_) * times_.round_trip_s / (now - trip_s_);
      under_way_ = std::max(under_way_, static_cast<std::uint64_t>(4 * in_trip));
    }
    trip_s_ = now, trip_acked_ = acked;
  }
  return under_way_;
}

void ProbedPair::post(bool sends, std::int32_t tag, std::int32_t peer, std::span<std::byte> memory) {
  const transport::Message message{
      .address = memory.data(), .bytes = memory.size(), .layout = nullptr, .peer = peer, .tag = tag};
  bool finished = false;
  const int error = sends ? port_.send(message, {}, &finished) : port_.recv(message, {}, &finished);
  if (error != 0) failed_ = true;
  if (error == 0 && !finished) ++open_;
}

void ProbedPair::step() {
  const auto done = port_.poll();
  if (done.empty()) sched_yield();
  for (const transport::Completion& each : done) failed_ = failed_ || each.error != 0;
  open_ -= std::min(open_, done.size());
}

}  // namespace urakata::job
