// SPDX-License-Identifier: BSD-3-Clause
// How a proxy process hands its program to the space daemon: one datagram with attributes, a memory file with all
// texts, and the descriptors. If there are many descriptors, further datagrams follow. Proxy and daemon later exchange
// notes, which this file defines too.
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
  std::string shown;                   // AT_EXECFN: path as it was given, or of the interpreter if that is a script
  std::vector<std::string> arguments;  // from argv[0] on
  std::vector<std::string> environment;
};

struct PassedDescriptor {
  Descriptor here;  // descriptor in the receiver
  int number;       // its number in the sender
};

struct Handover {
  Command command;
  Attributes attributes;
  Descriptor directory;  // working directory
  std::vector<PassedDescriptor> descriptors;
};

// Sends the whole handover over the socket. `descriptors`: numbers in the calling process. Error: what the kernel
// refused, or arguments and environment are longer than 64 MiB.
Status send_handover(int socket, const Command& command, const Attributes& attributes,
                     const std::vector<int>& descriptors);

// Receives a handover piece by piece: a peer may be slow, or stopped between two datagrams.
class HandoverReceiver {
 public:
  // Takes what has come over the non-blocking socket. nullopt: more is to come. Error: the peer has closed the
  // connection or sent something else, or this process has no room for the descriptors. Not to be called after a
  // result.
  std::optional<Result<Handover>> receive(int socket);

 private:
  // The first datagram. With it go the memory file of the strings and of the descriptors' numbers, the working
  // directory, and as many descriptors as fit. The other descriptors follow, in datagrams of one byte.
  struct Opening {
    std::uint64_t magic = 0;
    std::uint64_t text_bytes = 0;
    std::uint32_t arguments = 0;
    std::uint32_t environment = 0;
    std::uint32_t descriptors = 0;
    Attributes attributes;
  };
  // Tells versions of the protocol apart. The upper half is raised when the handover changes.
  static constexpr std::uint64_t kMagic = std::uint64_t{3} << 32U | sizeof(Opening);
  static constexpr std::size_t kOwn = 2;  // number of the handover's own descriptors: memory file and directory

  friend Status send_handover(int socket, const Command& command, const Attributes& attributes,
                              const std::vector<int>& descriptors);
  static Status take_texts(const Opening& opening, int file, Command& command);
  Result<Handover> whole();

  bool opened_ = false;
  Opening opening_;
  std::vector<Descriptor> received_;
};

enum class NoteKind : std::uint32_t {
  started,  // from the daemon: `value` is the task's pid
  refused,  // from the daemon: `text` says why no task was started
  ended,    // from the daemon: `value` is the task's wait status
  stopped,  // from the daemon: signal `value` has stopped the task; if it continues, the proxy gets SIGCONT
  signal    // from the proxy: send signal `value` to the task
};

struct Note {
  NoteKind kind = NoteKind::signal;
  std::int32_t value = 0;
  pid_t sender = 0;  // pid of the sender, in its own pid name space
  std::array<char, 480> text{};
};

// Cuts off text that is too long for Note. False: the peer has gone. Or the socket is non-blocking and full of notes
// that the peer has not read (errno is EAGAIN).
bool send_note(int socket, NoteKind kind, int value, const std::string& text = {});
// False: the peer has gone. Or the socket is non-blocking, and no note has come.
bool receive_note(int socket, Note& note);

// The calling process's open descriptors that are not marked close-on-exec, in order.
std::vector<int> inheritable_descriptors();
// The highest open descriptor.
int highest_descriptor();

}  // namespace urakata::space
