// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/staging.hpp"

#include <utility>
#include <vector>

#include "base/log.hpp"
#include "shim/native/without_memory.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

namespace {

using device::StagingBuffer;

int failed(const Error& error) {
  log::error("%s", error.message.c_str());
  return MPI_ERR_OTHER;
}

int staged_code(const Status& status) { return status ? MPI_SUCCESS : failed(status.error()); }

Staging& staging_of(Request& request) {
  if (request.staging == nullptr) request.staging = std::make_unique<Staging>();
  return *request.staging;
}

}  // namespace

int stage(std::vector<StagingBuffer::Part> parts, const void*& address, Request& request,
          std::unique_ptr<StagingBuffer> Staging::*to) {
  return or_no_memory([&] {
    Result<std::unique_ptr<StagingBuffer>> made = StagingBuffer::of(std::move(parts));
    if (!made) return failed(made.error());
    if (*made == nullptr) return int{MPI_SUCCESS};
    address = (*made)->at(address);
    staging_of(request).*to = std::move(*made);
    return int{MPI_SUCCESS};
  });
}

int fetch(Request& request) {
  Staging& staging = *request.staging;
  staging.written = false;
  for (StagingBuffer* staged : {staging.send.get(), staging.recv.get()}) {
    if (staged == nullptr) continue;
    if (const int code = staged_code(staged->fetch()); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

bool needs_staging(const MessageDescriptor& descriptor) {
  const p2p::Buffer& buffer = descriptor.buffer;
  const auto made = StagingBuffer::of({{{buffer.layout, buffer.address, buffer.count}, false, false}});
  return !made || *made != nullptr;
}

int stage_message(Request& request) {
  MessageDescriptor& descriptor = request.message.descriptor;
  if (request.staging != nullptr && request.staging->message != nullptr) {
    descriptor.buffer.address = request.staging->message;  // the request was started before
    request.staging->recv.reset();
  }
  const bool sends = descriptor.is_send();
  const void* address = descriptor.buffer.address;
  const p2p::Buffer& buffer = descriptor.buffer;
  const int code =
      stage({{{buffer.layout, buffer.address, buffer.count}, sends, !sends}}, address, request, &Staging::recv);
  if (code != MPI_SUCCESS || request.staging == nullptr || request.staging->recv == nullptr) return code;
  request.staging->message = descriptor.buffer.address;
  descriptor.buffer.address = writable(address);
  return fetch(request);
}

int stage_beside(Request& request, MessageDescriptor& send) {
  const void* address = send.buffer.address;
  const p2p::Buffer& buffer = send.buffer;
  const int code =
      stage({{{buffer.layout, buffer.address, buffer.count}, true, false}}, address, request, &Staging::send);
  if (code != MPI_SUCCESS || address == buffer.address) return code;
  send.buffer.address = writable(address);
  return fetch(request);
}

int settle(Request& request) {
  Staging& staging = *request.staging;
  if (!request.active || staging.recv == nullptr || std::exchange(staging.written, true)) return MPI_SUCCESS;
  const std::uint64_t bytes = request.operations().received(request);
  return bytes != 0 ? staged_code(staging.recv->store(bytes)) : MPI_SUCCESS;
}

}  // namespace urakata::shim
