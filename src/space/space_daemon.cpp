// SPDX-License-Identifier: BSD-3-Clause
#include "space/space_daemon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/file_bytes.hpp"
#include "space/address_layout.hpp"
#include "space/address_ranges.hpp"
#include "space/debugger_chain.hpp"
#include "space/handover.hpp"
#include "space/meeting.hpp"
#include "space/registry.hpp"
#include "space/task.hpp"

namespace urakata::space {
namespace {

// Upper estimate of the mappings of an MPI program with few libraries of its own (measured: 180 to 245). The MPI
// library maps one piece more for each other rank of the node, which is not in this number. Counting many mappings
// takes milliseconds, so it is done once in kTasksBetweenCounts tasks.
constexpr std::size_t kMappingsOfATask = 250;
constexpr std::uint32_t kTasksBetweenCounts = 16;

constexpr int kChainPause = 50;  // ms between looks whether the dynamic linkers of new tasks have begun

std::size_t count_lines(const char* path) {
  const std::string all = file_bytes(path);
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
}

// The number that the file begins with; SIZE_MAX: it begins with none.
std::size_t first_number(const char* path) {
  const std::string all = file_bytes(path);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  return error == std::errc{} ? number : SIZE_MAX;
}

// A proxy process and its task. Either may end first; the daemon forgets the pair when both have ended.
struct Pair {
  Descriptor socket;  // connection to the proxy; none: the proxy has ended or was refused
  pid_t proxy = 0;
  pid_t task = 0;                // 0: not started, or ended
  bool own_group = true;         // whether the task has a process group of its own
  TaskRecord* record = nullptr;  // nullptr: the task has not been started yet
  HandoverReceiver handover = {};
  // Wait status of the ended task if the proxy has not been told: the socket is full of notes that the proxy must read.
  std::optional<int> end = std::nullopt;
};

Result<Registry*> make_registry() {
  void* const place = mmap(nullptr, sizeof(Registry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return Error{"no memory for the registry of tasks"};
  auto* const registry = new (place) Registry;
  std::array<std::uint64_t, 3> random{};
  if (getrandom(random.data(), sizeof random, 0) != sizeof random) return Error{"the kernel gives no random bytes"};
  registry->identity = random[0];
  const Result<AddressLayout> layout = own_address_layout();
  if (!layout) return layout.error();
  if (Status chosen = choose_address_ranges(*registry, range_left_free(*layout), {random[1], random[2]}); !chosen) {
    return chosen.error();
  }
  if (!address_ranges_can_be_mapped(*registry)) {
    return Error{"the kernel refuses to map memory at the addresses chosen for the ranks of this space"};
  }
  return registry;
}

class SpaceDaemon {
 public:
  SpaceDaemon(Descriptor listening, Descriptor children, Registry& registry)
      : listening_(std::move(listening)), children_(std::move(children)), registry_(registry) {}

  void accept(Descriptor socket) {
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (!same_user(socket.number()) || getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
      return;
    }
    // No proxy may keep the daemon waiting: it serves all others too.
    if (fcntl(socket.number(), F_SETFL, O_NONBLOCK) != 0) return;
    pairs_.push_back({.socket = std::move(socket), .proxy = peer.pid});
  }

  void run() {
    while (!pairs_.empty()) {
      watched_.clear();
      watched_.push_back({listening_.number(), POLLIN, 0});
      watched_.push_back({children_.number(), POLLIN, 0});
      for (const Pair& one : pairs_) {
        const auto events = static_cast<short>(one.end ? POLLIN | POLLOUT : POLLIN);
        watched_.push_back({one.socket.number(), events, 0});
      }
      const int ready = poll(watched_.data(), watched_.size(), chain_incomplete_ ? kChainPause : -1);
      if (chain_incomplete_) chain_incomplete_ = chain_.link();
      if (ready <= 0) continue;
      // Ends of tasks first: a signal from a proxy then finds its task gone, and not another process with its pid.
      if (watched_[1].revents != 0) look_after_children();
      for (std::size_t i = 2; i < watched_.size(); ++i) {
        Pair& pair = pairs_[i - 2];
        if ((watched_[i].revents & POLLOUT) != 0) tell_end(pair, *pair.end);
        if ((watched_[i].revents & ~POLLOUT) != 0) listen_to(pair);
      }
      std::erase_if(pairs_, [](const Pair& one) { return !one.socket && one.task == 0; });
      if (watched_[0].revents != 0) accept_next();
    }
  }

 private:
  Descriptor accepted() const { return Descriptor(accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC)); }

  void accept_next() {
    if (Descriptor next = accepted(); next) {
      accept(std::move(next));
    } else if (errno == EMFILE || errno == ENFILE) {
      spare_.reset();
      if (const Descriptor refused = accepted(); refused) {
        send_note(refused.number(), NoteKind::refused, 0,
                  "the space daemon has reached its limit of open files; raise it (ulimit -n)");
      }
      spare_ = Descriptor(fcntl(children_.number(), F_DUPFD_CLOEXEC, 0));
    }
  }

  void listen_to(Pair& pair) {
    if (pair.record == nullptr) {
      begin(pair);
      return;
    }
    Note note;
    if (!receive_note(pair.socket.number(), note)) {
      pair.socket.reset();
      if (pair.task != 0) end_by_force(pair);
    } else if (note.kind == NoteKind::signal && pair.task != 0) {
      kill(pair.task, note.value);
    }
  }

  void begin(Pair& pair) {
    const std::optional<Result<Handover>> received = pair.handover.receive(pair.socket.number());
    if (!received) return;
    const Result<Handover>& handover = *received;
    if (!handover) {
      send_note(pair.socket.number(), NoteKind::refused, 0, handover.error().message);
      pair.socket.reset();
      return;
    }
    const Result<TaskRecord*> record = free_record(handover->attributes.local_ranks);
    if (!record) {
      send_note(pair.socket.number(), NoteKind::refused, 0, record.error().message);
      pair.socket.reset();
      return;
    }
    pair.own_group = handover->attributes.process_group != ProcessGroup::shared;
    TaskRecord& task = **record;
    task.begin_use();
    // Set before start_task(), since the program may look for its record before start_task() returns.
    task.state.store(TaskState::running, std::memory_order_release);
    const auto slot = static_cast<std::size_t>(&task - registry_.tasks.data());
    const Result<Task> started = start_task(*handover, {&registry_, slot});
    if (!started) {
      forget(task);
      send_note(pair.socket.number(), NoteKind::refused, 0, started.error().message);
      pair.socket.reset();
      return;
    }
    pair.task = started->pid;
    pair.record = &task;
    send_note(pair.socket.number(), NoteKind::started, pair.task);
    chain_.add(started->program);
    chain_incomplete_ = true;
  }

  void look_after_children() {
    signalfd_siginfo about{};
    while (read(children_.number(), &about, sizeof about) > 0) {
    }
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;) {
      const auto pair = std::ranges::find(pairs_, pid, &Pair::task);
      if (pair == pairs_.end()) continue;
      if (WIFSTOPPED(status)) {
        tell(*pair, NoteKind::stopped, WSTOPSIG(status));
      } else if (WIFCONTINUED(status)) {
        if (pair->socket) kill(pair->proxy, SIGCONT);
      } else {
        if (WIFSIGNALED(status) && pair->own_group) kill(-pid, SIGKILL);
        forget(*pair->record);
        pair->task = 0;
        tell_end(*pair, status);
      }
    }
  }

  static bool tell(const Pair& pair, NoteKind kind, int value) {
    return pair.socket && send_note(pair.socket.number(), kind, value);
  }
  static void tell_end(Pair& pair, int status) {
    pair.end.reset();
    if (!tell(pair, NoteKind::ended, status) && pair.socket && errno == EAGAIN) pair.end = status;
  }

  // The proxy has ended: kills its task, and what the task started in its own process group. The task itself may have
  // moved to another group.
  static void end_by_force(const Pair& pair) {
    if (pair.own_group) kill(-pair.task, SIGKILL);
    kill(pair.task, SIGKILL);
  }

  static void forget(TaskRecord& record) {
    record.state.store(TaskState::ended, std::memory_order_release);
    record.pid.store(0, std::memory_order_release);
  }

  // Error: the mappings of another program may be more than the kernel gives one address space.
  Status room_for_mappings(std::int32_t local_ranks) {
    const std::uint32_t used = registry_.used.load(std::memory_order_relaxed);
    if (used % kTasksBetweenCounts == 0) mappings_ = count_lines("/proc/self/maps");
    const std::size_t of_each = kMappingsOfATask + static_cast<std::size_t>(std::max(local_ranks, 0));
    const std::size_t expected = std::max(mappings_, used * of_each) + of_each;
    if (expected <= most_mappings_) return Nothing{};
    return Error{"the " + std::to_string(used) + " ranks of the space have nearly all mappings that it may have (" +
                 std::to_string(most_mappings_) + "); raise it with sysctl vm.max_map_count"};
  }

  // The record of a slot that no task has had, or else of one whose task has ended.
  Result<TaskRecord*> free_record(std::int32_t local_ranks) {
    if (Status room = room_for_mappings(local_ranks); !room) return room.error();
    const std::uint32_t used = registry_.used.load(std::memory_order_relaxed);
    if (used < kMostTasks) {
      open_address_ranges(registry_, used);
      registry_.used.store(used + 1, std::memory_order_release);
      return &registry_.tasks[used];
    }
    for (TaskRecord& one : registry_.tasks) {
      if (one.state.load(std::memory_order_relaxed) == TaskState::ended) return &one;
    }
    return Error{"a space holds at most " + std::to_string(kMostTasks) + " ranks"};
  }

  Descriptor listening_;
  Descriptor children_;  // signalfd of SIGCHLD
  // Spare descriptor. When none is left, it is closed for a moment, to accept and refuse a new connection.
  Descriptor spare_{fcntl(children_.number(), F_DUPFD_CLOEXEC, 0)};
  Registry& registry_;
  std::vector<Pair> pairs_;
  std::vector<pollfd> watched_;
  DebuggerChain chain_;
  bool chain_incomplete_ = false;  // whether chain_.link() is to be called again
  std::size_t mappings_ = 0;       // number of mappings at the last count
  const std::size_t most_mappings_ = first_number("/proc/sys/vm/max_map_count");
};

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_space_daemon(int listening, int founder, int break_failure) {
  setpgid(0, 0);
  std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, as exec may leave it, the ends of tasks would not be reported
  if (chdir("/") != 0) return 1;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  Descriptor children(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  raise_descriptor_limit();
  if (break_failure != 0 || !children) {
    const std::string why = !children
                                ? "no descriptor for signals"
                                : std::string("the program break cannot be guarded: ") + std::strerror(break_failure);
    send_note(founder, NoteKind::refused, 0, why);
    return 1;
  }
  const Result<Registry*> registry = make_registry();
  if (!registry) {
    send_note(founder, NoteKind::refused, 0, registry.error().message);
    return 1;
  }
  SpaceDaemon daemon(Descriptor(listening), std::move(children), **registry);
  daemon.accept(Descriptor(founder));
  daemon.run();
  return 0;
}

}  // namespace urakata::space
