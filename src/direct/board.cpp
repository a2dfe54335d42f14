// SPDX-License-Identifier: BSD-3-Clause
#include "direct/board.hpp"

#include <memory>
#include <new>

namespace urakata::direct {

namespace {

// The boards of this rank that all ranks have left. The ranks that leave last push, reclaim() takes the whole list.
constinit std::atomic<Board*> left_boards{nullptr};

constexpr std::size_t kHead = (sizeof(Board) + alignof(Seat) - 1) / alignof(Seat) * alignof(Seat);

}  // namespace

Board* Board::make(std::uint32_t ranks) {
  reclaim();
  void* const memory = ::operator new (kHead + ranks * sizeof(Seat), std::align_val_t{alignof(Seat)}, std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* const board = new (memory) Board(ranks, left_boards);
  board->seats_ = reinterpret_cast<Seat*>(static_cast<std::byte*>(memory) + kHead);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) new (board->seats_ + rank) Seat;  // touches no copy
  return board;
}

void Board::leave() {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::atomic<Board*>& list = left_;
  next_ = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void Board::reclaim() {
  Board* board = left_boards.exchange(nullptr, std::memory_order_acquire);
  while (board != nullptr) {
    Board* const next = board->next_;
    std::destroy_n(board->seats_, board->ranks_);
    board->~Board();
    ::operator delete (board, std::align_val_t{alignof(Seat)});
    board = next;
  }
}

}  // namespace urakata::direct
