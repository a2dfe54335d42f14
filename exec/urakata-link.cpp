// SPDX-License-Identifier: BSD-3-Clause
// urakata-link: emulates a long link between two sites. `urakata hosts` starts one process for each pair of sites.
//
// Reads packets from one TUN device, up to 64 KiB at a time, and writes them to the other when the model of the link
// (emulator/direction.hpp) says that they have come through. Times count from the packets' arrival. If this process
// gets the processor late, it delivers late, and reports in its statistics how late. It asks for real-time priority,
// since a wire does not wait for a core.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "emulator/control.hpp"
#include "emulator/lateness.hpp"
#include "link_control.hpp"

namespace {

using urakata::JsonWriter;
using urakata::LinkControl;
using urakata::now_ns;
namespace emulator = urakata::emulator;

constexpr const char* kUsage = R"(usage: urakata-link SOCKET READY TUN0 TUN1 [COMMAND]...

A long link between two sites. `urakata hosts run --sites` starts it, with numbers of descriptors:
  SOCKET   path of the control socket to make
  READY    written to (one byte) when the link works; then closed
  TUN0, TUN1  TUN devices with IFF_VNET_HDR, one in each site's gateway
  COMMAND  what to set before, as the control socket takes it, such as 'set 0 delay=8000000 rate=400000000 queue=800000'
)";

// Packets read from a device before due packets are delivered. With more, due packets would wait long; with fewer, each
// packet read would cost more looks at the clock.
constexpr int kReadsInARow = 32;
// A busy link naps for 1 % of its delay, but no longer than this: waking for each packet would cost more than all else.
constexpr std::uint64_t kLongestNap = 100'000;  // ns
constexpr std::size_t kLargestPacket = 65536 + 64;

class Link {
 public:
  Link(std::array<int, 2> devices, LinkControl control) : devices_(devices), control_(std::move(control)) {}

  emulator::Directions& directions() { return directions_; }
  void take_real_time();
  void run();

 private:
  void read_all(std::size_t end);
  void deliver(std::size_t from);
  void nap() const;
  bool sleep();  // until something is to be done; returns whether the control socket is readable
  void describe(JsonWriter& json) const;

  std::array<int, 2> devices_;
  emulator::Directions directions_;
  LinkControl control_;
  emulator::Lateness lateness_;
  std::uint64_t refused_ = 0;  // packets that the kernel did not take
  const char* scheduling_ = "ordinary";
  std::vector<pollfd> waits_;
  std::uint64_t woken_ = 0;  // when the last sleep ended, by now_ns()
  std::unique_ptr<std::byte[]> space_ = std::make_unique<std::byte[]>(kLargestPacket);
};

void Link::take_real_time() {
  const sched_param least{sched_get_priority_min(SCHED_RR)};
  if (sched_setscheduler(0, SCHED_RR, &least) == 0) {
    scheduling_ = "real-time";
  } else if (setpriority(PRIO_PROCESS, 0, -20) == 0) {
    scheduling_ = "preferred";
  }
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void Link::read_all(std::size_t end) {
  for (int i = 0; i < kReadsInARow; ++i) {
    const ssize_t got = read(devices_[end], space_.get(), kLargestPacket);
    if (got <= 0) return;
    directions_[end].offer(emulator::Packet({space_.get(), static_cast<std::size_t>(got)}), now_ns());
  }
}

void Link::deliver(std::size_t from) {
  emulator::Direction& direction = directions_[from];
  direction.advance(now_ns());
  while (direction.due(now_ns())) {
    const emulator::Delivery delivery = direction.take();
    lateness_.add(now_ns() - delivery.due);
    const auto bytes = delivery.packet.bytes();
    if (write(devices_[1 - from], bytes.data(), bytes.size()) < 0) ++refused_;
  }
}

void Link::nap() const {
  const std::uint64_t delay = std::min(directions_[0].settings().delay_ns, directions_[1].settings().delay_ns);
  const std::uint64_t until = woken_ + std::min(delay / 100, kLongestNap);
  const std::uint64_t now = now_ns();
  if (now >= until) return;
  const timespec rest{0, static_cast<long>(until - now)};
  nanosleep(&rest, nullptr);
}

bool Link::sleep() {
  nap();
  waits_ = control_.waits();
  for (const int device : devices_) waits_.push_back({device, POLLIN, 0});
  const std::uint64_t next = std::min(directions_[0].next(), directions_[1].next());
  const std::uint64_t now = now_ns();
  const std::uint64_t left = next > now ? next - now : 0;
  const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  const std::size_t controls = control_.waits().size();
  const int found =
      ppoll(waits_.data(), waits_.size(), next == emulator::Direction::kNever ? nullptr : &limit, nullptr);
  woken_ = now_ns();
  if (found <= 0) return false;
  return std::any_of(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(controls),
                     [](const pollfd& wait) { return wait.revents != 0; });
}

// The second number of schedstat is the time that this process was ready to run and had no processor.
std::optional<std::uint64_t> waited_for_processor() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/schedstat", "re"), &std::fclose);
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  if (!file || std::fscanf(file.get(), "%llu %llu", &ran, &waited) != 2) return std::nullopt;
  return waited;
}

void Link::describe(JsonWriter& json) const {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  json.key("time_ns").number(now_ns());
  json.key("cpu_ns").number(static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
                            static_cast<std::uint64_t>(used.tv_nsec));
  if (const auto waited = waited_for_processor()) json.key("waited_for_cpu_ns").number(*waited);
  json.key("scheduling").string(scheduling_).key("refused").number(refused_);
  json.key("lateness").object().key("sum_ns").number(lateness_.sum_ns()).key("worst_ns").number(lateness_.worst_ns());
  json.key("counts").array();
  for (const std::uint64_t count : lateness_.counts()) json.number(count);
  json.end().end();
}

void Link::run() {
  while (true) {
    for (const std::size_t end : {0U, 1U}) read_all(end);
    for (const std::size_t from : {0U, 1U}) deliver(from);
    if (sleep()) {
      control_.serve([&](std::string_view command) {
        return emulator::answer(directions_, command, [&](JsonWriter& json) { describe(json); });
      });
    }
  }
}

std::optional<int> descriptor(std::string_view text) {
  int value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || fcntl(value, F_GETFD) < 0) return std::nullopt;
  return value;
}

int fail(const std::string& message) {
  std::fprintf(stderr, "urakata-link: %s\n", message.c_str());
  return 1;
}

// Sets up a TUN device: reads do not block. The kernel delivers TCP in packets of up to 64 KiB with incomplete
// checksums, since the device offers to segment them.
bool prepare(int device) {
  constexpr unsigned long kOffers = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO_ECN;
  return ioctl(device, TUNSETOFFLOAD, kOffers) == 0 && fcntl(device, F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string_view> arguments(words + 1, words + count);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (arguments.size() < 4) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const auto ready = descriptor(arguments[1]);
  const auto first = descriptor(arguments[2]);
  const auto second = descriptor(arguments[3]);
  if (!ready || !first || !second) return fail("READY, TUN0 and TUN1 are numbers of open descriptors");
  for (const int device : {*first, *second}) {
    if (!prepare(device)) return fail(std::string("setting up the TUN devices: ") + std::strerror(errno));
  }
  auto control = LinkControl::open(words[1]);
  if (!control) return fail(control.error().message);
  Link link({*first, *second}, std::move(*control));
  for (std::size_t i = 4; i < arguments.size(); ++i) {
    const urakata::Status done = emulator::obey(link.directions(), arguments[i]);
    if (!done) return fail(done.error().message);
  }
  link.take_real_time();
  if (write(*ready, "r", 1) != 1) return fail("who started it has gone");
  close(*ready);
  link.run();
}
