// How a proxy process hands its program to the space daemon: one datagram with attributes, a memory file with all texts,
// and the descriptors. Further datagrams follow if the descriptors are many. Also the notes that both exchange later.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "space/attributes.hpp"
#include "space/descriptor.hpp"

namespace urakata::space {

// A program as execve would take it.
struct Command {
  std::string file;                    // absolute path of the ELF file
  std::string shown;                   // AT_EXECFN: the file as it was named
  std::vector<std::string> arguments;  // argv[0] as given
  std::vector<std::string> environment;
};

struct PassedDescriptor {
  Descriptor here;
  int number;  // that it had at the sender
};

struct Handover {
  Command command;
  Attributes attributes;
  Descriptor directory;
  std::vector<PassedDescriptor> descriptors;
};

// Sends everything over the socket: `descriptors` are the sender's own numbers. Error: what the kernel refused.
Status send_handover(int socket, const Command& command, const Attributes& attributes,
                     const std::vector<int>& descriptors);

// A handover on its way: its datagrams come one by one, and a peer may be slow, or stopped between two.
class HandoverReceiver {
 public:
  // Takes what has come over the socket, which is non-blocking. Nothing: more is to come. Error: the peer went away or
  // sent what cannot be.
  std::optional<Result<Handover>> receive(int socket);

 private:
  // The first datagram; with it go the memory file of the texts and numbers, the working directory, and as many
  // descriptors as fit. The others follow, each datagram with one byte.
  struct Opening {
    std::uint64_t magic = 0;
    std::uint64_t text_bytes = 0;
    std::uint32_t arguments = 0;
    std::uint32_t environment = 0;
    std::uint32_t descriptors = 0;
    Attributes attributes;
  };
  // Tells versions apart: the first number is raised when the handover changes.
  static constexpr std::uint64_t kMagic = std::uint64_t{2} << 32U | sizeof(Opening);
  static constexpr std::size_t kOwn = 2;  // descriptors of the handover itself

  friend Status send_handover(int socket, const Command& command, const Attributes& attributes,
                              const std::vector<int>& descriptors);
  static Status take_texts(const Opening& opening, int file, Command& command);
  Result<Handover> whole();

  bool opened_ = false;
  Opening opening_;
  std::vector<Descriptor> received_;
};

enum class NoteKind : std::uint32_t {
  started,    // daemon: value is the task's pid
  refused,    // daemon: text says why; nothing was started
  ended,      // daemon: value is the wait status
  stopped,    // daemon: the task was stopped
  continued,  // daemon: the task goes on
  signal      // proxy: send the task signal `value`
};

struct Note {
  NoteKind kind = NoteKind::signal;
  std::int32_t value = 0;
  pid_t sender = 0;
  std::array<char, 480> text{};
};

// False: the peer is gone or, on a non-blocking socket (errno is EAGAIN), has not read the many sent before.
bool send_note(int socket, NoteKind kind, int value, const std::string& text = {});
// False: the peer is gone.
bool receive_note(int socket, Note& note);

// The calling process's open descriptors that are not marked close-on-exec, in order.
std::vector<int> inheritable_descriptors();
// The highest open descriptor.
int highest_descriptor();

}  // namespace urakata::space
