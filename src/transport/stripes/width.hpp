// SPDX-License-Identifier: BSD-3-Clause
// The number of connections for long payload to a rank at the same site. Several are used if one does not fill the path
// between the nodes: the network limits each flow, or it assigns whole flows to bonded links.
//
// Only payload under way shows whether that is so, so the program's own payload is measured. If n connections are known
// to be good, n and 2n of them carry payload in turn, in kRounds rounds. 2n stay if they were faster by kGain in every
// round, which noise alone rarely does; then 4n are tried. The first round in which they were not ends the trial. The
// next trial begins after kRest times the duration of this one has been spent sending, which bounds the time lost.
//
// Thread-safety: by one thread at a time.
#pragma once

#include <cstdint>

namespace urakata::transport {

class Width {
 public:
  static constexpr std::uint32_t kMost = 8;
  static constexpr unsigned kRounds = 3;
  static constexpr double kGain = 1.2;
  static constexpr std::uint64_t kRest = 100;
  // A window of a round: what comes first is thrown away, since the kernel still has what went the other way before.
  static constexpr std::uint64_t kSettle = 10'000'000;  // ns
  static constexpr std::uint64_t kWindow = 50'000'000;  // ns, and
  static constexpr std::uint64_t kLeastBytes = 1UL << 20;
  static constexpr std::uint64_t kMixed = 1'000'000'000;  // ns of a trial that told nothing: it ends

  // `connections`: so many, always; 0: as many as pay, up to kMost.
  Width() : Width(1) {}
  explicit Width(std::uint32_t connections) : fixed_(connections != 0), connections_(fixed_ ? connections : 1) {}

  bool fixed() const { return fixed_; }
  // As many as are known to pay.
  std::uint32_t known() const { return connections_; }
  // Over how many the next payload is to go.
  std::uint32_t now() const { return trying_ ? 2 * connections_ : connections_; }
  bool trying() const { return trying_; }

  // So many bytes were acknowledged in so many nanoseconds in which there was some to send, over so many connections.
  void carried(std::uint32_t connections, std::uint64_t bytes, std::uint64_t ns);
  // In so many nanoseconds other payload went, too.
  void mixed(std::uint32_t connections, std::uint64_t ns);
  // What is tried cannot be had.
  void give_up();

 private:
  void judge(double rate);

  bool fixed_;
  std::uint32_t connections_;
  bool trying_ = false;                                 // this window is of twice as many
  unsigned rounds_ = 0;                                 // that have been won
  double narrow_rate_ = 0;                              // of this round
  std::uint64_t rest_ns_ = 0;                           // until the next trial
  std::uint64_t tried_ns_ = 0, mixed_ns_ = 0;           // of this trial
  std::uint64_t settling_ns_ = 0, bytes_ = 0, ns_ = 0;  // of this window
};

}  // namespace urakata::transport
