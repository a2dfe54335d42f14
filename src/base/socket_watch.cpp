#include "base/socket_watch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "base/clock.hpp"

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

}  // namespace

SocketWatch::~SocketWatch() {
  if (epoll_ >= 0) close(epoll_);
  if (directory_ >= 0) close(directory_);
}

bool SocketWatch::descriptors_changed() {
  if (directory_ < 0) directory_ = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  if (directory_ < 0 || fstat(directory_, &status) != 0 || status.st_size == descriptors_) return false;
  descriptors_ = status.st_size;
  return true;
}

void SocketWatch::look() {
  const std::uint64_t now = now_ns();
  if (!descriptors_changed() && now < next_look_ns_) return;
  pause_ns_ = std::clamp(pause_ns_ * 2, kFirstPause, kLongestPause);
  next_look_ns_ = now + pause_ns_;
  if (epoll_ < 0) epoll_ = epoll_create1(EPOLL_CLOEXEC);
  DIR* directory = opendir("/proc/self/fd");
  if (epoll_ < 0 || directory == nullptr) {
    if (directory != nullptr) closedir(directory);
    return;
  }
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);  // "." and ".." give 0, which is a descriptor like any other
    if (!is_tcp(descriptor)) continue;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    // Sockets seen before are refused as known; closed ones have left by themselves.
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) {
      ++sockets_;
      pause_ns_ = kFirstPause;  // where one was new, more may follow
    }
  }
  closedir(directory);
}

bool SocketWatch::wait(std::uint64_t timeout_ns) {
  look();
  if (sockets_ == 0) return false;
  std::array<epoll_event, 16> events;
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000U);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000U);
#if defined(SYS_epoll_pwait2)
  if (syscall(SYS_epoll_pwait2, epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr,
              std::size_t{0}) >= 0 ||
      errno == EINTR) {
    return true;
  }
#endif
  epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), static_cast<int>(timeout_ns / 1'000'000U) + 1);
  return true;
}

}  // namespace urakata
