// SPDX-License-Identifier: BSD-3-Clause
// Sleeping until something arrives from the network.
//
// The MPI library can only be polled; but where it talks over TCP, its sockets are in this process, and the kernel
// tells when one of them is ready. A SocketWatch looks at all TCP sockets of the process, edge-triggered and without
// reading from them, so that a thread with nothing to do sleeps until polling the MPI library is worth it. What has
// come since the last wait count: none is missed between a poll and the sleep. Sockets that appear later are found when
// the number of open descriptors has changed, and by looking again from time to time.
//
// Thread-safety: one thread at a time. Not copied into children.
#pragma once

#include <cstdint>
#include <vector>

namespace urakata {

// The contract of sleeping. A transport says of what is in flight what would tell that it can go on
// (Transport::wakeup), and names the descriptors for it (Transport::descriptors). A domain adds what it has to do itself,
// and what its groups may get through memory (Domain::wakeup). Whoever has nothing else to do asks that, and sleeps in
// SocketWatch::wait. From the weakest to the strongest: of several the least holds.
enum class Wakeup : std::uint8_t {
  none,         // nobody tells: there is work, or something is to be polled for
  sockets,      // all comes over the process's TCP sockets, the MPI library's among them
  descriptors,  // all is told by descriptors of ours
};

class SocketWatch {
 public:
  // `descriptors`: descriptors of ours that are readable while there is something to do.
  explicit SocketWatch(std::vector<int> descriptors = {});
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  // Sleeps until a socket, or one of the descriptors `descriptors`, is ready, for at most `timeout_ns`. False at once
  // where there is nothing to watch: no TCP socket.
  bool wait(std::uint64_t timeout_ns);
  // The same by the descriptors `descriptors` alone: what else happens on the process's sockets wakes nobody.
  bool wait_for_descriptors(std::uint64_t timeout_ns);
  // By what `wakeup` says; false at once where that is none.
  bool wait(Wakeup wakeup, std::uint64_t timeout_ns) {
    if (wakeup == Wakeup::descriptors) return wait_for_descriptors(timeout_ns);
    return wakeup == Wakeup::sockets && wait(timeout_ns);
  }
  // Ends the sleep in wait_for_descriptors(), or the next one. By any thread.
  void wake();

  // A socket that is read by ourselves is nothing to watch; from now on, and until it is closed. Nor does a child have
  // it that this process forks: while one lived, whoever is connected to this process would not see its end. (So an
  // io_uring is left out, too.) By any thread.
  static void leave_out(int socket);
  static void closed(int socket);

 private:
  void scan();
  void quiet();
  bool make_sets();
  bool descriptors_changed();

  std::vector<int> descriptors_;
  int bell_ = -1;               // eventfd, one of descriptors_
  int told_ = -1;               // the epoll set of descriptors_
  int epoll_ = -1;              // of all sockets, and of told_
  int directory_ = -1;          // /proc/self/fd, whose size is the number of open descriptors (Linux 6.2 and later)
  long open_descriptors_ = -1;  // their number at the last scan
  unsigned sockets_ = 0;
  std::uint64_t next_scan_ns_ = 0;
  std::uint64_t pause_ns_ = 0;  // between two scans; grows
};

}  // namespace urakata
