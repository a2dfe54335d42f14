// SPDX-License-Identifier: BSD-3-Clause
#include "xdp/offload.hpp"

#include "base/clock.hpp"
#include "base/progress_thread.hpp"

namespace urakata::xdp {

namespace {

constexpr std::uint64_t kBetweenChecks = 100'000'000;  // ns

}  // namespace

Offload::~Offload() { Table::release(slot_); }

std::uint32_t Offload::waits_for() const {
  if (begun_.empty()) return 0;
  const BegunOperation& first = begun_.front();
  if (first.given) return cells_.missing(first.number, first.work.form);
  return cells_.oldest_ended() ? cells_.lacking() : 0;
}

// Gives this rank's input to an operation that has a cell.
void Offload::give(BegunOperation& operation, const std::byte* from) {
  operation.given = true;
  const std::uint32_t form = operation.work.form, number = operation.number;
  const std::uint32_t to = cells_.receivers(form);
  const bool last = cells_.give(number, form, from, to);
  for (std::uint32_t other = 0; other < cells_.ranks(); ++other) {
    if ((to & bit(other)) != 0) frames_.send(other, URA_XDP_DATA, number, form);
  }
  if (last) cells_.compute(number, form, operation.work.reducer);
}

bool Offload::start(const Work& work, const std::byte* from, std::byte* into, void* whose) {
  if (broken()) return false;
  BegunOperation& operation = begun_.add(work, into, whose);
  free_cells();
  if (cells_.has_cell(operation.number)) {
    give(operation, from);
  } else if (from != nullptr) {
    operation.waiting.assign(from, from + URA_XDP_BYTES_OF(work.form));
  }
  begun_.note_awaited();
  retransmission_.ask_ahead(begun_.next());
  return true;
}

void Offload::free_cells() {
  if (cells_.free()) retransmission_.note_freed();
}

bool Offload::all_have_it() {
  if (broken() || !begun_.empty()) return true;
  free_cells();
  if (cells_.all_free()) return true;
  if (!retransmission_.ask_whether_received(now_ns())) discard();
  return false;
}

// Gives the inputs of operations that have got a cell. The first operation may end by that.
void Offload::give_waiting() {
  bool any = false;
  for (BegunOperation& operation : begun_) {
    if (operation.given) continue;
    if (!cells_.has_cell(operation.number)) break;
    // If this row is the last one, the reducer runs on this thread. The program's own function must not run on ours.
    if (on_progress_thread && operation.work.reducer != nullptr && operation.work.reducer->callers_only) break;
    give(operation, operation.waiting.data());
    operation.waiting.clear();
    any = true;
  }
  if (any) begun_.note_awaited();
}

void Offload::reap(std::vector<Done>& done) {
  if (broken()) {
    for (const BegunOperation& operation : begun_) done.push_back({operation.whose, true});
    begun_.clear();
    return;
  }
  if (begun_.empty()) return;
  bool any = false;
  while (!begun_.empty() && begun_.front_ended()) {
    const BegunOperation& first = begun_.front();
    done.push_back({first.whose, !cells_.take(first.number, first.work.form, first.take)});
    begun_.pop_front();
    cells_.note_finished();
    any = true;
  }
  if (any) {
    begun_.note_taken();
    retransmission_.note_ended();
  }
  if (any || !cells_.all_free()) free_cells();
  give_waiting();
  if (begun_.empty() || any) return;
  const std::uint64_t now = now_ns();
  const BegunOperation& first = begun_.front();
  const bool all_answer = first.given ? retransmission_.request_missing(first.number, first.work.form, now)
                                      : retransmission_.ask_whether_received(now);
  if (!all_answer) discard();
  if (now < next_check_ns_) return;
  next_check_ns_ = now + kBetweenChecks;
  if (!frames_.ebpf_is_there()) discard();
}

void Offload::discard() {
  __atomic_store_n(&slot_.token, 0, __ATOMIC_SEQ_CST);
  broken_.store(true, std::memory_order_relaxed);
}

}  // namespace urakata::xdp
