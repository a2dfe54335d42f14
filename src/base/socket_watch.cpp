// SPDX-License-Identifier: BSD-3-Clause
#include "base/socket_watch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"

namespace urakata {

namespace {

constexpr std::uint64_t kFirstPause = 1'000'000;      // ns
constexpr std::uint64_t kLongestPause = 500'000'000;  // ns

bool is_tcp(int descriptor) {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return false;
  size = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return false;
  return (domain == AF_INET || domain == AF_INET6) && type == SOCK_STREAM;
}

// The sockets that leave_out() was called for.
struct LeftOut {
  Mutex lock;
  std::set<int> sockets URAKATA_GUARDED_BY(lock);
  bool of_parent URAKATA_GUARDED_BY(lock) = false;  // in a forked child: `sockets` are the parent's, and closed here
  // /dev/null, which takes the sockets' numbers in a forked child: code there may still use the numbers.
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
};
LeftOut& left_out();

// Before a fork one function takes the lock, after the fork another one gives it back.
void lock_before_fork() URAKATA_NOT_ANALYSED { left_out().lock.lock(); }
void unlock_after_fork() URAKATA_NOT_ANALYSED { left_out().lock.unlock(); }

// The process that forked may have several threads, so its child may neither allocate nor free.
void let_go_in_child() URAKATA_NOT_ANALYSED {
  LeftOut& all = left_out();
  for (auto it = all.sockets.begin(); !all.of_parent && it != all.sockets.end(); ++it) {
    if (all.nothing < 0 || dup3(all.nothing, *it, O_CLOEXEC) < 0) close(*it);
  }
  all.of_parent = true;
  all.lock.unlock();
}

LeftOut& left_out() {
  static auto* the = [] {
    auto* made = new LeftOut;
    pthread_atfork(lock_before_fork, unlock_after_fork, let_go_in_child);
    return made;
  }();
  return *the;
}

bool is_left_out(int socket) {
  const LockGuard guard(left_out().lock);
  return left_out().sockets.contains(socket);
}

// Sleeps until something in the epoll set is ready, for at most `timeout_ns`. Returns whether `descriptor` is.
bool sleep_on(int epoll, std::uint64_t timeout_ns, int descriptor) {
  std::array<epoll_event, 16> events;
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000U);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000U);
  int count = -1;
#if defined(SYS_epoll_pwait2)
  count = static_cast<int>(syscall(SYS_epoll_pwait2, epoll, events.data(), static_cast<int>(events.size()), &timeout,
                                   nullptr, std::size_t{0}));
  if (count < 0 && errno == EINTR) return false;
#endif
  if (count < 0) {
    count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()),
                       static_cast<int>(timeout_ns / 1'000'000U) + 1);
  }
  return std::any_of(events.begin(), events.begin() + std::max(count, 0),
                     [&](const epoll_event& event) { return event.data.fd == descriptor; });
}

}  // namespace

SocketWatch::SocketWatch(std::vector<int> descriptors) : descriptors_(std::move(descriptors)) {
  if (descriptors_.empty()) return;
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ >= 0) descriptors_.push_back(bell_);
}

SocketWatch::~SocketWatch() {
  if (bell_ >= 0) close(bell_);
  if (epoll_ >= 0) close(epoll_);
  if (told_ >= 0) close(told_);
  if (directory_ >= 0) close(directory_);
}

void SocketWatch::leave_out(int socket) {
  LeftOut& all = left_out();
  const LockGuard guard(all.lock);
  if (std::exchange(all.of_parent, false)) all.sockets.clear();
  all.sockets.insert(socket);
}

void SocketWatch::closed(int socket) {
  const LockGuard guard(left_out().lock);
  left_out().sockets.erase(socket);
}

bool SocketWatch::make_sets() {
  if (epoll_ >= 0) return true;
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0 || descriptors_.empty()) return epoll_ >= 0;
  told_ = epoll_create1(EPOLL_CLOEXEC);
  if (told_ < 0) return true;
  epoll_event event{};
  event.events = EPOLLIN;
  for (const int descriptor : descriptors_) {
    event.data.fd = descriptor;
    epoll_ctl(told_, EPOLL_CTL_ADD, descriptor, &event);
  }
  event.data.fd = told_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, told_, &event);
  return true;
}

bool SocketWatch::descriptors_changed() {
  if (directory_ < 0) directory_ = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  if (directory_ < 0 || fstat(directory_, &status) != 0 || status.st_size == open_descriptors_) return false;
  open_descriptors_ = status.st_size;
  return true;
}

void SocketWatch::scan() {
  const std::uint64_t now = now_ns();
  if (!descriptors_changed() && now < next_scan_ns_) return;
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPause, kLongestPause);
  next_scan_ns_ = now + pause_ns_;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  sockets_ = 0;
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);  // "." and ".." give 0, which is a descriptor like any other
    if (!is_tcp(descriptor) || is_left_out(descriptor)) continue;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.fd = descriptor;
    // Sockets seen before are refused as known; closed ones have left by themselves.
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) {
      ++sockets_;
      pause_ns_ = kFirstPause;  // more new sockets may follow
    } else if (errno == EEXIST) {
      ++sockets_;
    }
  }
  closedir(directory);
}

bool SocketWatch::wait(std::uint64_t timeout_ns) {
  if (!make_sets()) return false;
  scan();
  if (sockets_ == 0 && told_ < 0) return false;
  if (sleep_on(epoll_, timeout_ns, told_)) quiet();
  return true;
}

bool SocketWatch::wait_for_descriptors(std::uint64_t timeout_ns) {
  if (!make_sets() || told_ < 0) return false;
  if (sleep_on(told_, timeout_ns, bell_)) quiet();
  return true;
}

// Resets the eventfd of wake(): while it is readable, no wait would sleep.
void SocketWatch::quiet() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto got = read(bell_, &rings, sizeof rings);
}

void SocketWatch::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(bell_, &one, sizeof one);
}

}  // namespace urakata
