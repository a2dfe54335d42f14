// SPDX-License-Identifier: BSD-3-Clause
#include "space/handover.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <string_view>

#include "base/system_error.hpp"

namespace urakata::space {
namespace {

constexpr std::size_t kMostPassed = 250;  // descriptors in one datagram; the kernel takes 253
constexpr char kMore = 0;
constexpr int kMostPauses = 4000;  // pauses of 1 ms before the sender gives up
constexpr std::size_t kMostTexts = std::size_t{64} << 20U;
constexpr std::size_t kMostDescriptors = 65536;

struct alignas(cmsghdr) Ancillary {
  std::array<std::byte, CMSG_SPACE(kMostPassed * sizeof(int))> bytes{};
};

bool send_with(int socket, const void* data, std::size_t bytes, std::span<const int> descriptors) {
  Ancillary ancillary;
  iovec part{const_cast<void*>(data), bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = ancillary.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  for (int pauses = 0; pauses < kMostPauses;) {
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0) return sent == static_cast<ssize_t>(bytes);
    if (errno == ETOOMANYREFS) {  // the user's processes together have too many descriptors on their way
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
      ++pauses;
    } else if (errno != EINTR) {
      return false;
    }
  }
  errno = ETOOMANYREFS;
  return false;
}

// Number of bytes received; 0: the peer has gone, or message or descriptors did not fit; nullopt: nothing has come.
// Appends descriptors to `received`.
std::optional<std::size_t> receive_with(int socket, void* data, std::size_t bytes, std::vector<Descriptor>& received) {
  Ancillary ancillary;
  iovec part{data, bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.bytes.data();
  message.msg_controllen = ancillary.bytes.size();
  ssize_t count = 0;
  do {
    count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return std::nullopt;
  if (count <= 0) return 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t numbers = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < numbers; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      received.emplace_back(number);
    }
  }
  if ((message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) return 0;
  return static_cast<std::size_t>(count);
}

std::string texts_of(const Command& command) {
  std::string texts;
  const auto add = [&texts](const std::string& one) { texts.append(one.c_str(), one.size() + 1); };
  add(command.file);
  add(command.shown);
  for (const std::string& one : command.arguments) add(one);
  for (const std::string& one : command.environment) add(one);
  return texts;
}

Result<Descriptor> memory_file(std::string_view content) {
  Descriptor file(memfd_create("urakata-handover", MFD_CLOEXEC));
  if (!file) return system_error("making a memory file");
  while (!content.empty()) {
    const ssize_t written = write(file.number(), content.data(), content.size());
    if (written <= 0) return system_error("writing a memory file");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return file;
}

template <class Use>
void each_open_descriptor(Use use) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  if (!folder) return;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    const int number = std::atoi(entry->d_name);
    if (number != dirfd(folder.get())) use(number);
  }
}

}  // namespace

Status send_handover(int socket, const Command& command, const Attributes& attributes,
                     const std::vector<int>& descriptors) {
  std::string content = texts_of(command);
  if (content.size() > kMostTexts) return Error{"arguments and environment are too long"};
  const std::size_t text_bytes = content.size();
  for (const int number : descriptors) content.append(reinterpret_cast<const char*>(&number), sizeof number);
  const Result<Descriptor> file = memory_file(content);
  if (!file) return file.error();
  const Descriptor directory(open(".", O_PATH | O_CLOEXEC | O_DIRECTORY));
  if (!directory) return system_error("opening the working directory");
  const HandoverReceiver::Opening opening{HandoverReceiver::kMagic,
                                          text_bytes,
                                          static_cast<std::uint32_t>(command.arguments.size()),
                                          static_cast<std::uint32_t>(command.environment.size()),
                                          static_cast<std::uint32_t>(descriptors.size()),
                                          attributes};
  std::vector<int> all = {file->number(), directory.number()};
  all.insert(all.end(), descriptors.begin(), descriptors.end());
  // Up to kMostPassed descriptors go with the first datagram: few programs need a second one.
  std::span<const int> rest = all;
  const auto next = [&rest] {
    const std::span<const int> part = rest.first(std::min(rest.size(), kMostPassed));
    rest = rest.subspan(part.size());
    return part;
  };
  if (!send_with(socket, &opening, sizeof opening, next()))
    return system_error("handing the program to the space daemon");
  while (!rest.empty()) {
    if (!send_with(socket, &kMore, sizeof kMore, next()))
      return system_error("handing descriptors to the space daemon");
  }
  return Nothing{};
}

Status HandoverReceiver::take_texts(const Opening& opening, int file, Command& command) {
  std::string texts(opening.text_bytes, '\0');
  if (pread(file, texts.data(), texts.size(), 0) != static_cast<ssize_t>(texts.size()) || texts.back() != '\0') {
    return Error{"the texts handed over are incomplete"};
  }
  std::string_view rest = texts;
  const auto next = [&rest] {
    const std::string one(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    return one;
  };
  command.file = next();
  command.shown = next();
  for (std::uint32_t i = 0; i < opening.arguments && !rest.empty(); ++i) command.arguments.push_back(next());
  for (std::uint32_t i = 0; i < opening.environment && !rest.empty(); ++i) command.environment.push_back(next());
  if (!rest.empty() || command.arguments.size() != opening.arguments ||
      command.environment.size() != opening.environment) {
    return Error{"the texts handed over do not fit their number"};
  }
  return Nothing{};
}

std::optional<Result<Handover>> HandoverReceiver::receive(int socket) {
  if (!opened_) {
    const std::optional<std::size_t> bytes = receive_with(socket, &opening_, sizeof opening_, received_);
    if (!bytes) return std::nullopt;
    if (*bytes != sizeof opening_ || opening_.magic != kMagic || received_.size() < kOwn || opening_.text_bytes == 0 ||
        opening_.text_bytes > kMostTexts || opening_.descriptors > kMostDescriptors) {
      return Error{
          "the proxy process broke off or is of another version of Urakata, or the limit of open files (ulimit -n) is "
          "too "
          "low"};
    }
    opened_ = true;
  }
  while (received_.size() < kOwn + opening_.descriptors) {
    char more = kMore;
    const std::optional<std::size_t> bytes = receive_with(socket, &more, sizeof more, received_);
    if (!bytes) return std::nullopt;
    if (*bytes == 0) {
      return Error{"not all descriptors arrived; is the limit of open files (ulimit -n) too low?"};
    }
  }
  return whole();
}

Result<Handover> HandoverReceiver::whole() {
  Handover handover;
  handover.attributes = opening_.attributes;
  if (Status taken = take_texts(opening_, received_[0].number(), handover.command); !taken) return taken.error();
  handover.directory = std::move(received_[1]);
  std::vector<int> numbers(opening_.descriptors);
  const auto size = static_cast<ssize_t>(numbers.size() * sizeof(int));
  if (pread(received_[0].number(), numbers.data(), numbers.size() * sizeof(int),
            static_cast<off_t>(opening_.text_bytes)) != size) {
    return Error{"the numbers of the descriptors are incomplete"};
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    handover.descriptors.push_back({std::move(received_[kOwn + i]), numbers[i]});
  }
  return handover;
}

bool send_note(int socket, NoteKind kind, int value, const std::string& text) {
  Note note{kind, value, getpid(), {}};
  std::copy_n(text.begin(), std::min(text.size(), note.text.size() - 1), note.text.begin());
  return send_with(socket, &note, sizeof note, {});
}

bool receive_note(int socket, Note& note) {
  ssize_t count = 0;
  // If a peer has closed with unread notes, the kernel reports ECONNRESET once, before it gives the peer's own notes.
  do {
    count = recv(socket, &note, sizeof note, 0);
  } while (count < 0 && (errno == EINTR || errno == ECONNRESET));
  note.text.back() = '\0';
  return count == static_cast<ssize_t>(sizeof note);
}

std::vector<int> inheritable_descriptors() {
  std::vector<int> numbers;
  each_open_descriptor([&](int number) {
    if ((fcntl(number, F_GETFD) & FD_CLOEXEC) == 0) numbers.push_back(number);
  });
  std::ranges::sort(numbers);
  return numbers;
}

int highest_descriptor() {
  int highest = 2;
  each_open_descriptor([&](int number) { highest = std::max(highest, number); });
  return highest;
}

}  // namespace urakata::space
