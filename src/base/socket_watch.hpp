// SPDX-License-Identifier: BSD-3-Clause
// Sleeping until something arrives from the network.
//
// The MPI library can only be polled. But if it uses TCP, its sockets are in this process, and the kernel tells when
// one of them is ready. A SocketWatch watches all TCP sockets of the process, edge-triggered and without reading from
// them. So a thread with nothing to do can sleep until polling the MPI library pays. An event since the last wait ends
// the next one at once, so none is missed between a poll and the sleep. New sockets are found when the number of open
// descriptors has changed, and by a scan from time to time.
//
// Thread-safety: wake(), leave_out() and closed() by any thread; the rest by one thread at a time. The descriptors that
// a SocketWatch opens are closed on exec.
#pragma once

#include <cstdint>
#include <vector>

namespace urakata {

// What can wake a thread that sleeps until pending messages move. A transport answers for what it has in flight
// (Transport::wakeup), and names its descriptors (Transport::descriptors). A progress domain also counts its own work,
// and what may come through memory (Domain::wakeup). A thread with nothing else to do asks the domain and sleeps in
// SocketWatch::wait(). The values go from the weakest to the strongest: for several transports the least one holds.
enum class Wakeup : std::uint8_t {
  none,         // nothing: there is work, or something must be polled for
  sockets,      // everything comes over the process's TCP sockets, the MPI library's among them
  descriptors,  // descriptors of ours announce everything
};

class SocketWatch {
 public:
  // `descriptors`: descriptors of ours that are readable while there is something to do. They stay the caller's.
  explicit SocketWatch(std::vector<int> descriptors = {});
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  // Sleeps until a socket or one of the constructor's descriptors is ready, for at most `timeout_ns`. True: it has
  // slept, perhaps until the timeout or a signal. False, at once: neither a TCP socket nor a descriptor is watched.
  bool wait(std::uint64_t timeout_ns);
  // As wait(), but until one of the descriptors is ready. False, at once: no descriptor is watched.
  bool wait_for_descriptors(std::uint64_t timeout_ns);
  // Sleeps as `wakeup` allows. False, at once, for Wakeup::none and if there is nothing to watch.
  bool wait(Wakeup wakeup, std::uint64_t timeout_ns) {
    if (wakeup == Wakeup::descriptors) return wait_for_descriptors(timeout_ns);
    return wakeup == Wakeup::sockets && wait(timeout_ns);
  }
  // Ends the present or else the next sleep. Does nothing if the constructor got no descriptors.
  void wake();

  // No SocketWatch will watch this socket, since Urakata reads it itself; to be called when the socket is new. A child
  // that this process forks does not keep it: while the child lived, the peers would not see this process's end. (The
  // descriptor of an io_uring is left out for that reason.)
  static void leave_out(int socket);
  // Undoes leave_out(). To be called before the socket is closed, since its number may be given to another one.
  static void closed(int socket);

 private:
  void scan();                 // adds new TCP sockets to epoll_, unless it is too early to look again
  void quiet();                // resets bell_
  bool make_sets();            // makes told_ and epoll_, if need be; false: the system refuses
  bool descriptors_changed();  // whether the number of open descriptors has changed; false if not known

  std::vector<int> descriptors_;
  int bell_ = -1;               // eventfd that wake() makes readable, one of descriptors_; -1: there are none
  int told_ = -1;               // epoll set of descriptors_
  int epoll_ = -1;              // epoll set of all watched sockets and of told_
  int directory_ = -1;          // /proc/self/fd, whose size is the number of open descriptors (Linux 6.2 and later)
  long open_descriptors_ = -1;  // their number at the last scan
  unsigned sockets_ = 0;        // number of sockets in epoll_ at the last scan
  std::uint64_t next_scan_ns_ = 0;
  std::uint64_t pause_ns_ = 0;  // between two scans; doubles until a new socket is found
};

}  // namespace urakata
