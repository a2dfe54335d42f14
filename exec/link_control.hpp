// SPDX-License-Identifier: BSD-3-Clause
// The control socket of urakata-link: commands of emulator/control.hpp, one a message (SOCK_SEQPACKET), one answer
// each.
//
// Only processes of this process's user are answered. A caller that sends nothing, or does not read, delays no other.
#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace urakata {

class LinkControl {
 public:
  using Answer = std::function<std::string(std::string_view)>;

  // Creates the socket at `path`, which must not exist yet.
  static Result<LinkControl> open(const char* path);
  LinkControl(LinkControl&& other) noexcept;
  LinkControl& operator=(LinkControl&&) = delete;
  ~LinkControl();

  // The descriptors to wait for; valid until the next call of serve().
  const std::vector<pollfd>& waits() const { return waits_; }
  // To be called when one of waits() is readable. Accepts new callers and answers commands that have arrived, without
  // waiting. Costs three system calls or more.
  void serve(const Answer& answer);

 private:
  explicit LinkControl(int listener) { waits_.push_back({listener, POLLIN, 0}); }
  void accept_all();

  std::vector<pollfd> waits_;  // the listener, then the callers
};

}  // namespace urakata
