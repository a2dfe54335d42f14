// SPDX-License-Identifier: BSD-3-Clause
#include "chain/request_writer.hpp"

#include <cerrno>
#include <cstring>

#include "base/log.hpp"

namespace urakata::chain {

std::size_t requests_of(const ChainedOperation& operation, const ChainedOperation* before) {
  const std::size_t chains = operation.schedule->chains;
  std::size_t requests = operation.schedule->entries.size();
  if (operation.signals) requests += chains;
  if (before != nullptr) requests += before->schedule->chains + (chains > 1 ? chains : 0);
  return requests;
}

// Each chain signals its end. If there is an operation before this one, the first chain waits for the end of each chain
// of that operation, and then lets the other chains begin.
void RequestWriter::put(ChainedOperation& operation, const ChainedOperation* before) {
  const ChainedSchedule& schedule = *operation.schedule;
  const std::size_t number = operation.number;
  operation.others = schedule.chains - 1;
  bool first_of_chain = true;
  for (std::size_t at = 0; at < schedule.entries.size(); ++at) {
    if (first_of_chain && before != nullptr) {
      if (at != 0) {
        put_gate(number, Ring::Kind::read, true, operation.begun, &token_in_);
      } else {
        for (std::uint32_t chain = 0; chain < before->schedule->chains; ++chain) {
          put_gate(number, Ring::Kind::read, true, before->ended, &token_in_);
        }
        if (operation.others != 0) put_gate(number, Ring::Kind::write, true, operation.begun, &operation.others);
      }
    }
    put_entry(operation, at);
    first_of_chain = !schedule.entries[at].continues;
    if (first_of_chain && operation.signals) put_gate(number, Ring::Kind::write, false, operation.ended, &signal_);
  }
}

void RequestWriter::put_gate(std::size_t number, Ring::Kind kind, bool linked, const Gate& gate, void* word) {
  rings_.put({.kind = kind,
              .linked = linked,
              .descriptor = gate.descriptor(),
              .address = word,
              .bytes = sizeof(std::uint64_t),
              .number = RequestId{number, RequestId::kBetween}.number()});
}

void RequestWriter::put_entry(const ChainedOperation& operation, std::size_t at) {
  const Entry& entry = operation.schedule->entries[at];
  Ring::Submission request{.linked = entry.continues || operation.signals, .bytes = entry.bytes};
  request.number = RequestId{operation.number, at}.number();
  switch (entry.act) {
    case Act::send:
    case Act::receive: {
      const bool sends = entry.act == Act::send;
      request.kind = sends ? Ring::Kind::send : Ring::Kind::receive;
      request.descriptor = peers_.of(operation.schedule->peers[entry.index]).socket;
      request.address = entry.buffer == kToken ? static_cast<void*>(sends ? &token_out_ : &token_in_)
                                               : operation.buffers[entry.buffer] + entry.offset;
      break;
    }
    case Act::signal:
      request.kind = Ring::Kind::write;
      request.descriptor = operation.gates[entry.index].descriptor();
      request.address = &signal_;
      break;
    case Act::wait:
      request.kind = Ring::Kind::read;
      request.descriptor = operation.gates[entry.index].descriptor();
      request.address = &token_in_;
      break;
  }
  rings_.put(request);
}

void RequestWriter::tell(const ChainedOperation& operation, std::size_t at, std::int32_t value) const {
  if (value == -ECANCELED) return;  // a consequence of another request's failure
  const Entry* const entry = at != RequestId::kBetween ? &operation.schedule->entries[at] : nullptr;
  if (entry == nullptr || entry->act == Act::signal || entry->act == Act::wait) {
    log::error("a gate between chains failed: %s", std::strerror(value < 0 ? -value : EIO));
    return;
  }
  const std::int32_t rank = peers_.of(operation.schedule->peers[entry->index]).rank;
  if (value < 0) {
    log::error("lost the connection to rank %d: %s", rank, std::strerror(-value));
  } else {
    log::error("lost the connection to rank %d: its process has ended, after %d of %u bytes of a message", rank, value,
               entry->bytes);
  }
}

}  // namespace urakata::chain
