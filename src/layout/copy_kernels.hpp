// SPDX-License-Identifier: BSD-3-Clause
// The inner loops themselves. Included by one source file per level of the instruction set, each with its own compiler
// flags. Everything here is in an unnamed namespace, and nothing inline comes from elsewhere: a function compiled for a
// newer processor must never be merged with one that an older processor runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/copy_kernel_table.hpp"

namespace urakata::layout {
namespace {

#if defined(__AVX512F__)
constexpr std::uint64_t kVector = 64;
#elif defined(__AVX2__)
constexpr std::uint64_t kVector = 32;
#else
constexpr std::uint64_t kVector = 16;
#endif

template <std::uint64_t kBytes>
inline void move(std::byte* to, const std::byte* from) {
  __builtin_memcpy(to, from, kBytes);
}

// The first and the last kBytes of a block of kBytes to 2 kBytes.
template <std::uint64_t kBytes>
inline void move_ends(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  std::byte tail[kBytes];
  __builtin_memcpy(tail, from + bytes - kBytes, kBytes);
  move<kBytes>(to, from);
  __builtin_memcpy(to + bytes - kBytes, tail, kBytes);
}

// A block of any length. The C library's copy has its price per call, and is best where the block is long.
inline void move_any(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  constexpr std::uint64_t kLong = 1024;
  if (bytes > kLong) {
    __builtin_memcpy(to, from, bytes);
  } else if (bytes > 2 * kVector) {
    std::uint64_t i = 0;
    for (; i + kVector < bytes; i += kVector) move<kVector>(to + i, from + i);
    move<kVector>(to + bytes - kVector, from + bytes - kVector);
  } else if (bytes >= 32) {
    if (bytes > 64) {  // with vectors of 64 bytes only
      move_ends<64>(to, from, bytes);
    } else {
      move_ends<32>(to, from, bytes);
    }
  } else if (bytes >= 16) {
    move_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    move_ends<8>(to, from, bytes);
  } else if (bytes >= 4) {
    move_ends<4>(to, from, bytes);
  } else if (bytes >= 2) {
    move_ends<2>(to, from, bytes);
  } else {
    *to = *from;
  }
}

// How long a block is: a number that the compiler knows, or one that the run says.
template <std::uint64_t kBytes>
struct Known {
  static constexpr std::uint64_t bytes = kBytes;
  static void move(std::byte* to, const std::byte* from) { layout::move<kBytes>(to, from); }
};
struct Told {
  std::uint64_t bytes;
  void move(std::byte* to, const std::byte* from) const { move_any(to, from, bytes); }
};

// Which way: out of the elements, or into them. `Elements` is the type of their address.
struct Gather {
  using Elements = const std::byte*;
  using Packed = std::byte*;
  template <class Length>
  static void move(Packed packed, Elements at, const Length& length) {
    length.move(packed, at);
  }
};
struct Scatter {
  using Elements = std::byte*;
  using Packed = const std::byte*;
  template <class Length>
  static void move(Packed packed, Elements at, const Length& length) {
    length.move(at, packed);
  }
};

// Keeps the compiler from building vectors out of numbers that lie far apart: its gathers and scatters are slower than
// one load and one store each.
template <class Pointer>
inline void one_by_one(Pointer& at) {
  asm volatile("" : "+r"(at));
}

template <class Direction, class Length>
void row(typename Direction::Packed packed, typename Direction::Elements at, std::uint64_t columns, std::int64_t stride,
         Length length) {
  for (; columns >= 4; columns -= 4) {
    one_by_one(at);
    Direction::move(packed, at, length);
    Direction::move(packed + length.bytes, at + stride, length);
    Direction::move(packed + 2 * length.bytes, at + 2 * stride, length);
    Direction::move(packed + 3 * length.bytes, at + 3 * stride, length);
    packed += 4 * length.bytes;
    at += 4 * stride;
  }
  for (; columns != 0; --columns) {
    one_by_one(at);
    Direction::move(packed, at, length);
    packed += length.bytes;
    at += stride;
  }
}

// Every second, third or fourth number: distances known to the compiler become shuffles of whole vectors.
template <class Number>
struct [[gnu::packed, gnu::may_alias]] Loose {
  Number value;
};
template <class Number, std::uint64_t kEvery>
void pick(std::byte* __restrict packed, const std::byte* __restrict at, std::uint64_t columns) {
  auto* to = reinterpret_cast<Loose<Number>*>(packed);
  const auto* from = reinterpret_cast<const Loose<Number>*>(at);
  for (std::uint64_t c = 0; c < columns; ++c) to[c].value = from[c * kEvery].value;
}
template <class Number>
bool picked(std::byte* packed, const std::byte* at, std::uint64_t columns, std::int64_t stride) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Number));
  if (columns < 16) return false;
  if (stride == 2 * kBytes) {
    pick<Number, 2>(packed, at, columns);
  } else if (stride == 3 * kBytes) {
    pick<Number, 3>(packed, at, columns);
  } else if (stride == 4 * kBytes) {
    pick<Number, 4>(packed, at, columns);
  } else {
    return false;
  }
  return true;
}

// Rows that lie closer than their columns, as in a transposition: kRows of them at a time, as often as there are so
// many, so that a line of memory is used whole while it is in the cache. Returns how many of `rows` it has moved.
template <class Direction, std::uint64_t kRows, class Length>
std::uint64_t columns_first(typename Direction::Packed packed, typename Direction::Elements at, const Run& run,
                            std::uint64_t rows, Length length) {
  const std::uint64_t row_bytes = run.columns * length.bytes;
  std::uint64_t done = 0;
  for (; done + kRows <= rows; done += kRows) {
    typename Direction::Packed first = packed + done * row_bytes;
    typename Direction::Elements column = at + static_cast<std::int64_t>(done) * run.row_stride;
    for (std::uint64_t c = 0; c < run.columns; ++c) {
      typename Direction::Packed to = first;
      typename Direction::Elements from = column;
      for (std::uint64_t r = 0; r < kRows; ++r) {
        Direction::move(to, from, length);
        to += row_bytes;
        from += run.row_stride;
      }
      first += length.bytes;
      column += run.stride;
    }
  }
  return done;
}

template <class Direction, class Length>
void rows_of_blocks(typename Direction::Packed packed, typename Direction::Elements at, const Run& run, Length length) {
  constexpr std::uint64_t kLine = 64;
  constexpr std::uint64_t kManyLines = 256;  // more than stay in the first cache until the next row comes
  const std::uint64_t row_bytes = run.columns * length.bytes;
  const auto distance = [](std::int64_t stride) { return static_cast<std::uint64_t>(stride < 0 ? -stride : stride); };
  std::uint64_t rows = run.rows;
  const auto skip = [&](std::uint64_t done) {
    packed += done * row_bytes;
    at += static_cast<std::int64_t>(done) * run.row_stride;
    rows -= done;
  };
  if (run.columns >= kManyLines && length.bytes < kLine && distance(run.row_stride) < kLine &&
      distance(run.stride) >= kLine) {
    // A piece of a payload may have few rows.
    skip(columns_first<Direction, 8>(packed, at, run, rows, length));
    skip(columns_first<Direction, 4>(packed, at, run, rows, length));
    skip(columns_first<Direction, 2>(packed, at, run, rows, length));
  }
  while (rows != 0) {
    row<Direction>(packed, at, run.columns, run.stride, length);
    skip(1);
  }
}

template <class Direction, class Length>
void rows_of_pieces(typename Direction::Packed packed, typename Direction::Elements at, const Run& run, Length length) {
  for (std::uint64_t r = 0; r < run.rows; ++r) {
    const std::int64_t* offset = run.offsets;
    std::uint64_t columns = run.columns;
    for (; columns >= 4; columns -= 4) {
      one_by_one(packed);
      Direction::move(packed, at + offset[0], length);
      Direction::move(packed + length.bytes, at + offset[1], length);
      Direction::move(packed + 2 * length.bytes, at + offset[2], length);
      Direction::move(packed + 3 * length.bytes, at + offset[3], length);
      packed += 4 * length.bytes;
      offset += 4;
    }
    for (; columns != 0; --columns) {
      one_by_one(packed);
      Direction::move(packed, at + *offset++, length);
      packed += length.bytes;
    }
    at += run.row_stride;
  }
}

template <class Direction>
void rows_of_unequal_pieces(typename Direction::Packed packed, typename Direction::Elements at, const Run& run) {
  for (std::uint64_t r = 0; r < run.rows; ++r) {
    for (std::uint64_t c = 0; c < run.columns; ++c) {
      const Told length{run.positions[c + 1] - run.positions[c]};
      Direction::move(packed, at + run.offsets[c], length);
      packed += length.bytes;
    }
    at += run.row_stride;
  }
}

// Calls `visit` with the length as the compiler may know it.
template <class Visit>
void with_length(std::uint64_t block, Visit visit) {
  switch (block) {
    case 1:
      return visit(Known<1>{});
    case 2:
      return visit(Known<2>{});
    case 4:
      return visit(Known<4>{});
    case 8:
      return visit(Known<8>{});
    case 12:
      return visit(Known<12>{});
    case 16:
      return visit(Known<16>{});
    case 24:
      return visit(Known<24>{});
    case 32:
      return visit(Known<32>{});
    case 40:
      return visit(Known<40>{});
    case 48:
      return visit(Known<48>{});
    case 64:
      return visit(Known<64>{});
    default:
      return visit(Told{block});
  }
}

template <class Direction>
void rows(typename Direction::Packed packed, typename Direction::Elements at, const Run& run) {
  if (run.block == 0) {
    rows_of_unequal_pieces<Direction>(packed, at, run);
  } else if (run.offsets != nullptr) {
    with_length(run.block, [&](auto length) { rows_of_pieces<Direction>(packed, at, run, length); });
  } else {
    with_length(run.block, [&](auto length) { rows_of_blocks<Direction>(packed, at, run, length); });
  }
}

template <class Number>
bool picked_rows(std::byte* packed, const std::byte* at, const Run& run) {
  for (std::uint64_t r = 0; r < run.rows; ++r) {
    if (!picked<Number>(packed, at, run.columns, run.stride)) return false;
    packed += run.columns * run.block;
    at += run.row_stride;
  }
  return true;
}

void gather(std::byte* packed, const std::byte* base, const Run& run) {
  const std::byte* at = base + run.offset;
  if (run.offsets == nullptr) {
    if (run.block == 1 && picked_rows<std::uint8_t>(packed, at, run)) return;
    if (run.block == 2 && picked_rows<std::uint16_t>(packed, at, run)) return;
    if (run.block == 4 && picked_rows<std::uint32_t>(packed, at, run)) return;
    if (run.block == 8 && picked_rows<std::uint64_t>(packed, at, run)) return;
  }
  rows<Gather>(packed, at, run);
}

void scatter(std::byte* base, const std::byte* packed, const Run& run) {
  rows<Scatter>(packed, base + run.offset, run);
}

void transfer(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
              std::uint64_t count, std::uint64_t block) {
  with_length(block, [&](auto length) {
    std::byte* target = to;
    const std::byte* source = from;
    for (std::uint64_t i = 0; i < count; ++i) {
      one_by_one(target);
      length.move(target, source);
      target += to_stride;
      source += from_stride;
    }
  });
}

constexpr KernelTable kTable = {gather, scatter, transfer};

}  // namespace
}  // namespace urakata::layout
