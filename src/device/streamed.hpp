// SPDX-License-Identifier: BSD-3-Clause
// The common code of CUDA and HIP. Both copy on streams, in a context or on a device that is current in the calling
// thread.
//
// Thread-safety: by any thread.
#pragma once

#include <cstddef>
#include <span>

#include "device/driver.hpp"
#include "device/streams.hpp"

namespace urakata::device {

// `functions` has the driver's make_stream, destroy_stream, synchronise, pin and unpin. An object Current(place) makes
// the place's context current while the object lives. Its code() is not 0 if that failed. copy_one(rows, direction,
// stream) begins one copy. All codes are the driver's, 0 for success; error_of(what, code) is the error for a code.
template <auto& functions, class Current, auto copy_one, auto error_of>
struct Streamed {
  static Status copy(const Place& place, std::span<const Rows> all, Direction direction) {
    static auto* streams = new Streams;  // lives as long as the process
    const Current current(place);
    int code = current.code();
    if (code == 0) {
      code = streams->with(
          place.context, [](void** stream) { return functions.make_stream(stream, kBlocking); },
          [&](void* stream) {
            int failed = 0;
            for (const Rows& rows : all) {
              if (failed = copy_one(rows, direction, stream); failed != 0) break;
            }
            const int ended = functions.synchronise(stream);  // after a failure too: earlier copies may be under way
            return failed != 0 ? failed : ended;
          },
          [](void* stream) { functions.destroy_stream(stream); });
    }
    if (code != 0) return error_of(direction == Direction::fetch ? "read a buffer" : "write a buffer", code);
    return Nothing{};
  }

  static bool pin(const Place& place, void* pages, std::size_t bytes) {
    const Current current(place);
    return current.code() == 0 && functions.pin(pages, bytes, kPortable) == 0;
  }

  static void unpin(const Place& place, void* pages) {
    const Current current(place);
    functions.unpin(pages);
  }

 private:
  // CU_STREAM_DEFAULT, hipStreamDefault: the stream and the context's default stream wait for each other. A program
  // may call MPI while its own copy on the default stream is still under way: cudaMemcpy to a device from memory that
  // is not pinned may return early ("API synchronization behavior" in NVIDIA's documentation).
  static constexpr unsigned kBlocking = 0;
  static constexpr unsigned kPortable = 1;  // CU_MEMHOSTREGISTER_PORTABLE, hipHostRegisterPortable
};

}  // namespace urakata::device
