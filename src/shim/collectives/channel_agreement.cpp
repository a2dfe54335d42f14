// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/channel_agreement.hpp"

#include <algorithm>

#include "shim/native/abi.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"

namespace urakata::shim {

namespace {

// Short enough that every MPI library sends it eagerly: a rank that refuses may never receive it.
struct Word {
  std::uint32_t communicator;  // the receiver's number for it, since words of a freed communicator may still be queued
  ChannelAnswer answer;
};

// A tag below the tag of notices. No context uses these tags (Process::own_facts).
int tag_of(std::int32_t context) { return private_comms.largest_tag - 1 - context; }

void send_answer(const Communicator& comm, std::uint32_t to, ChannelAnswer answer) {
  const Word word{comm.number_at(to), answer};
  MPI_Request request = MPI_REQUEST_NULL;
  native.Isend(&word, sizeof word, MPI_BYTE, comm.world[to], tag_of(comm.contexts[to]), private_comms.world, &request);
  native.Wait(&request, MPI_STATUS_IGNORE);
}

ChannelAnswer heard_from(const Communicator& comm, std::uint32_t from) {
  for (Word word{};;) {
    if (native.Recv(&word, sizeof word, MPI_BYTE, comm.world[from], tag_of(comm.context), private_comms.world,
                    MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return ChannelAnswer::no;
    }
    if (word.communicator == comm.number_at(comm.rank)) return word.answer;
  }
}

}  // namespace

ChannelAnswer agree_on_channel(Communicator& comm, ChannelAnswer own) {
  if (comm.channels_refused) return ChannelAnswer::refused;
  ChannelAnswer least = own;
  for (std::uint32_t distance = 1; distance < comm.ranks; distance *= 2) {
    send_answer(comm, (comm.rank + distance) % comm.ranks, least);
    least = std::min(least, heard_from(comm, (comm.rank + comm.ranks - distance) % comm.ranks));
  }
  comm.channels_refused = least == ChannelAnswer::refused;
  return least;
}

void refuse_channel(Communicator& comm) {
  if (comm.channels_refused) return;
  comm.channels_refused = true;
  for (std::uint32_t distance = 1; distance < comm.ranks; distance *= 2) {
    send_answer(comm, (comm.rank + distance) % comm.ranks, ChannelAnswer::refused);
  }
}

}  // namespace urakata::shim
