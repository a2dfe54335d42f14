// SPDX-License-Identifier: BSD-3-Clause
// The progress thread for halos with long payloads between nodes, which works while the program computes. Without it,
// bytes that the kernel does not take at once, or that the receiver has no buffer for, would wait for the program's
// next call. (Persistent collectives with such payloads have schedules, which the engine's progress thread runs.) The
// thread never enters the MPI library.
//
// The thread exists if the job has progress threads, from the first neighbourhood channel that needs it. It sleeps
// until the wire is ready. While a caller waits for such an exchange the thread does nothing: the caller makes all
// progress.
//
// Thread-safety: stop_exchange_progress() by one thread at a time, also repeatedly; the rest by any.
#pragma once

#include <cstdint>

namespace urakata::shim {

// Bytes that a connection to another node takes at once: its first window, by default.
inline constexpr std::uint64_t kFirstWindow = 128 << 10;

// Starts the thread, if the job may have it and it does not exist. False: there is no such thread. Exchanges then
// progress only in calls of the program, or by the progress thread for messages (space.hpp).
bool want_exchange_progress();
// Tells the thread that an exchange for it is under way. long_exchanges_under_way() must count the exchange already.
void expect_long_exchange();

// Marks that a caller waits for an exchange of the thread, while the object lives.
class LongWait {
 public:
  explicit LongWait(bool of_progress_thread);
  ~LongWait();
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

 private:
  bool of_progress_thread_;
};

void stop_exchange_progress();
std::uint64_t exchange_progress_cpu_ns();

}  // namespace urakata::shim
