// SPDX-License-Identifier: BSD-3-Clause
#include "job/rank_0_text.hpp"

#include <cstdint>
#include <span>

namespace urakata::job {

Result<std::string> text_of_rank_0(Bootstrap& world, const Result<std::string>& own) {
  struct Head {
    std::uint64_t bytes = 0;
    bool bad = false;
  } head;
  std::string text;
  if (world.rank() == 0) {
    head.bad = !own.ok();
    text = own.ok() ? *own : own.error().message;
    head.bytes = text.size();
  }
  if (!world.broadcast(std::as_writable_bytes(std::span(&head, 1)), 0)) return Error{"the MPI library refuses"};
  text.resize(head.bytes);
  if (!world.broadcast(std::as_writable_bytes(std::span(text)), 0)) return Error{"the MPI library refuses"};
  if (head.bad) return Error{text};
  return text;
}

}  // namespace urakata::job
