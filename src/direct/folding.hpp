// SPDX-License-Identifier: BSD-3-Clause
// The reduction of all ranks' payloads, and how ranks share it.
//
// Thread-safety: by any thread, of payloads that nobody writes and results that nobody else touches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "direct/slot.hpp"
#include "reduce/reducer.hpp"

namespace urakata::direct {

inline constexpr std::uint64_t kPiece =
    8192;  // bytes of a result that are computed at a time, so that they stay in the cache

// out = x0 op (x1 op (...)), `bytes` bytes from `at` on of each payload. `out` is no payload, or is that of the last
// rank. `payloads`: a container of Slot::Part.
template <class Payloads>
void fold(const Payloads& payloads, std::uint64_t at, std::byte* out, std::uint64_t bytes,
          const reduce::Reducer& reducer) {
  if (bytes == 0) return;
  const std::byte* const last = payloads.back().at + at;
  if (last != out) std::memcpy(out, last, bytes);
  for (std::size_t i = payloads.size() - 1; i != 0; --i) {
    reducer.apply(reducer, payloads[i - 1].at + at, out, bytes / reducer.size);
  }
}

// The same bytes of a scan, for all ranks: results[r] gets the reduction of the payloads up to that of rank r;
// exclusive: of the payloads below it, and results[0] stays as it is. In place: a result may be its rank's payload.
template <class Payloads>
void scan_range(const Payloads& payloads, std::span<std::byte* const> results, std::uint64_t at, std::uint64_t bytes,
                const reduce::Reducer& reducer, bool exclusive) {
  alignas(kLine) std::byte room[2][kPiece];  // the reduction of the operands before the present one, and with it
  const std::uint64_t piece = kPiece / reducer.size * reducer.size;
  for (const std::uint64_t end = at + bytes; at < end; at += piece) {
    const std::uint64_t part = std::min(piece, end - at);
    std::byte* before = room[0];
    std::byte* with = room[1];
    for (std::size_t rank = 0; rank < payloads.size(); ++rank) {
      std::memcpy(with, payloads[rank].at + at, part);
      if (rank != 0) reducer.apply(reducer, before, with, part / reducer.size);
      if (!exclusive || rank != 0) std::memcpy(results[rank] + at, exclusive ? before : with, part);
      std::swap(before, with);
    }
  }
}

// The elements that one of `ranks` ranks computes: whole cache lines where elements divide them.
inline Range share_of(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint64_t element) {
  const std::uint64_t unit = kLine % element == 0 ? kLine : element;
  const std::uint64_t units = (bytes + unit - 1) / unit;
  const std::uint64_t begin = std::min(bytes, units * rank / ranks * unit);
  return {begin, std::min(bytes, units * (rank + 1) / ranks * unit) - begin};
}

}  // namespace urakata::direct
