#include "halo/plan.hpp"

#include <algorithm>

namespace urakata::halo {

namespace {

std::uint64_t bytes_of(const End& end) { return end.shape == nullptr ? end.count : end.count * end.shape->size(); }

// One piece of memory needs no shape.
Elements elements_of(const End& end) {
  if (end.shape == nullptr || end.shape->contiguous()) return {nullptr, bytes_of(end), nullptr};
  return {nullptr, end.count, end.shape};
}

// Also from nullptr: MPI_BOTTOM, with addresses for offsets.
std::byte* displaced(const std::byte* base, std::ptrdiff_t offset) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset));
}

constexpr std::uint64_t whole_lines(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

Plan::Plan(p2p::Port& port, std::span<const End> out, std::span<const End> in, const Costs& costs)
    : port_(port), out_(out.size()), in_(in.size()) {
  std::vector<std::uint32_t> receivers;
  for (std::size_t i = 0; i < out.size(); ++i) {
    OutEdge& edge = out_[i];
    edge.offset = out[i].offset;
    edge.bytes = bytes_of(out[i]);
    edge.sender = &port;
    edge.source = elements_of(out[i]);
    if (edge.bytes == 0) continue;
    sending_.push_back(static_cast<std::uint32_t>(i));
    receivers.push_back(out[i].peer);
  }
  std::sort(receivers.begin(), receivers.end());
  for (std::size_t i = 0; i < in.size(); ++i) {
    InEdge& edge = in_[i];
    edge.offset = in[i].offset;
    edge.bytes = bytes_of(in[i]);
    edge.receiver = &port;
    edge.target = elements_of(in[i]);
    edge.piece = p2p::piece_of(edge.bytes, costs.pieces);
    edge.one_way = !std::binary_search(receivers.begin(), receivers.end(), in[i].peer);
    (edge.bytes == 0 ? empty_ : receiving_).push_back(static_cast<std::uint32_t>(i));
  }
  give_landing(costs);
  waiting_.reserve(receiving_.size());
  leaving_.reserve(sending_.size());
  arrived_.reserve(in_.size());
}

void Plan::give_landing(const Costs& costs) {
  for (InEdge& edge : in_) {
    edge.direct = edge.bytes > kInLine;
    if (edge.bytes <= kInLine || edge.bytes > costs.landing_most) continue;
    const std::uint64_t room = whole_lines(edge.bytes);
    if (landing_bytes_ + 2 * room > costs.landing_budget) continue;
    edge.landing_room = room;
    edge.direct = edge.bytes >= costs.direct_least;
    landing_bytes_ += 2 * room;
  }
  if (landing_bytes_ == 0) return;
  landing_ = std::make_unique_for_overwrite<Line[]>(landing_bytes_ / kLine);
  std::byte* next = landing_[0].bytes;
  for (InEdge& edge : in_) {
    if (edge.landing_room == 0) continue;
    edge.landing = next;
    next += 2 * edge.landing_room;
  }
}

void Plan::begin(const std::byte* from, std::byte* to) {
  const std::uint64_t k = ++exchange_;
  ++counts_.exchanges;
  told_ = 0;
  arrived_.assign(empty_.begin(), empty_.end());
  waiting_.assign(receiving_.begin(), receiving_.end());
  for (const std::uint32_t i : sending_) {
    if (out_[i].direct || out_[i].credit) __builtin_prefetch(&out_[i].ready);
  }
  for (const std::uint32_t i : receiving_) in_[i].begin(k, displaced(to, in_[i].offset), counts_);
  for (const std::uint32_t i : sending_) {
    counts_.bytes += out_[i].bytes;
    if (!out_[i].begin(k, displaced(from, out_[i].offset), counts_)) leaving_.push_back(i);
  }
  // What was offered to neighbours that are here already: only when all have been told.
  if (!leaving_.empty()) std::erase_if(leaving_, [&](std::uint32_t i) { return out_[i].advance(k, counts_); });
}

bool Plan::progress() {
  const std::uint64_t k = exchange_;
  const std::size_t before = waiting_.size() + leaving_.size();
  if (before == 0) return false;
  std::erase_if(waiting_, [&](std::uint32_t i) {
    if (!in_[i].take(k, counts_)) return false;
    arrived_.push_back(i);
    return true;
  });
  std::erase_if(leaving_, [&](std::uint32_t i) { return out_[i].advance(k, counts_); });
  return waiting_.size() + leaving_.size() != before;
}

bool Plan::news() const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](std::uint32_t i) { return in_[i].news(exchange_); }) ||
         std::any_of(leaving_.begin(), leaving_.end(), [&](std::uint32_t i) { return out_[i].news(exchange_); });
}

void Plan::wait(const p2p::BackoffSettings& settings) {
  p2p::Backoff backoff(port_, settings);
  while (!complete()) {
    if (progress()) {
      backoff.restart();
    } else {
      backoff.step([&] { return news(); });
    }
  }
}

bool Plan::ready(std::size_t in) {
  const auto edge = static_cast<std::uint32_t>(in);
  const auto found = std::find(waiting_.begin(), waiting_.end(), edge);
  if (found == waiting_.end()) return true;
  if (in_[in].take(exchange_, counts_)) {
    waiting_.erase(found);
    arrived_.push_back(edge);
    return true;
  }
  progress();
  return in_[in].taken == exchange_;
}

std::optional<std::size_t> Plan::ready_any() {
  if (told_ == arrived_.size()) progress();
  if (told_ == arrived_.size()) return std::nullopt;
  return arrived_[told_++];
}

void Plan::retire() {
  for (const OutEdge& edge : out_) {
    if (edge.in != nullptr) edge.in->sender_gone.store(true, std::memory_order_release);
  }
  for (const InEdge& edge : in_) {
    if (edge.out != nullptr) edge.out->receiver_gone.store(true, std::memory_order_release);
  }
}

bool Plan::released() const {
  const auto left = [](const void* peer, const std::atomic<bool>& gone) {
    return peer == nullptr || gone.load(std::memory_order_acquire);
  };
  return std::ranges::all_of(out_, [&](const OutEdge& e) { return left(e.in, e.receiver_gone); }) &&
         std::ranges::all_of(in_, [&](const InEdge& e) { return left(e.out, e.sender_gone); });
}

}  // namespace urakata::halo
