// The control socket of urakata-link: commands of emulator/control.hpp, one a message (SOCK_SEQPACKET), one answer each.
//
// Only processes of the own user are answered. A caller that says nothing, or does not read, holds nobody up.
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

  // The socket is made at `path`, where there must be nothing yet.
  static Result<LinkControl> open(const char* path);
  LinkControl(LinkControl&& other) noexcept;
  LinkControl& operator=(LinkControl&&) = delete;
  ~LinkControl();

  // What to wait for; valid until the next call of serve().
  const std::vector<pollfd>& waits() const { return waits_; }
  // To be called when one of waits() is readable: takes new callers and answers those whose command is there, without
  // waiting. Costs three system calls at least.
  void serve(const Answer& answer);

 private:
  explicit LinkControl(int listener) { waits_.push_back({listener, POLLIN, 0}); }
  void accept_all();

  std::vector<pollfd> waits_;  // the listener, then the callers
};

}  // namespace urakata
