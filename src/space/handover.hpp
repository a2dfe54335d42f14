// How a stand-in hands its program to the keeper: one datagram with attributes, a memory file with all texts, and the
// descriptors, for many of which further datagrams follow. And the short messages that both exchange afterwards.
#pragma once

#include <array>
#include <cstdint>
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

// Error: the peer went away, was silent for some seconds, or sent what cannot be.
Result<Handover> receive_handover(int socket);

enum class NoteKind : std::uint32_t {
  started,    // keeper: value is the task's pid
  refused,    // keeper: text says why; nothing was started
  ended,      // keeper: value is the wait status
  stopped,    // keeper: the task was stopped
  continued,  // keeper: the task goes on
  signal      // stand-in: send the task signal `value`
};

struct Note {
  NoteKind kind = NoteKind::signal;
  std::int32_t value = 0;
  pid_t sender = 0;
  std::array<char, 480> text{};
};

bool send_note(int socket, NoteKind kind, int value, const std::string& text = {});
// False: the peer is gone.
bool receive_note(int socket, Note& note);

// The calling process's open descriptors that are not marked close-on-exec, in order.
std::vector<int> inheritable_descriptors();
// The highest open descriptor.
int highest_descriptor();

}  // namespace urakata::space
