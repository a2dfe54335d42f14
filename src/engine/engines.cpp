#include "engine/engines.hpp"

#include <algorithm>
#include <array>

#include "engine/fallback.hpp"
#include "engine/poll.hpp"

namespace urakata::engine {

namespace {

bool thread_needs_threads(const Environment& run) { return run.wish == EngineKind::thread && run.helpers_pay; }

Status thread_usable(const Environment& run) {
  if (run.wish != EngineKind::thread) return Error{"only --engine thread makes helpers"};
  if (!run.helpers_pay) {
    return Error{"no helper, since all ranks are on this node (--placement shared makes one); it would be " +
                 run.placement};
  }
  if (!run.threads) {
    return Error{
        "the host does not allow calls by several threads (MPI_THREAD_MULTIPLE): engine poll instead of thread"};
  }
  return Nothing{};
}

std::unique_ptr<Engine> make_thread(Domain& domain, const Environment&, const HelperSettings& settings) {
  return std::make_unique<ThreadEngine>(domain, settings);
}

// Without a hook in the host's waiting a fallback progress thread keeps MPI's progress rule, where threads may call.
bool poll_needs_threads(const Environment& run) { return run.wish != EngineKind::host && !run.hook; }

Status poll_usable(const Environment&) { return Nothing{}; }

std::unique_ptr<Engine> make_poll(Domain& domain, const Environment& run, const HelperSettings&) {
  if (run.hook || !run.threads) return std::make_unique<PollEngine>(domain);
  return std::make_unique<FallbackEngine>(domain);
}

constexpr std::array kTable = {
    EngineRow{"thread", true, thread_needs_threads, thread_usable, make_thread},
    EngineRow{"poll", false, poll_needs_threads, poll_usable, make_poll},
};

}  // namespace

std::span<const EngineRow> engine_table() { return kTable; }

const EngineRow* engine_row(std::string_view name) {
  const auto* const row = std::ranges::find(kTable, name, &EngineRow::name);
  return row != kTable.end() ? row : nullptr;
}

bool need_threads(const Environment& environment) {
  return std::ranges::any_of(kTable, [&](const EngineRow& row) { return row.needs_threads(environment); });
}

void Engines::make(const Environment& environment, std::size_t helpers,
                   const std::function<std::unique_ptr<Domain>()>& make_domain,
                   const std::function<HelperSettings(std::size_t)>& settings) {
  environment_ = environment;
  for (const EngineRow& row : kTable) {
    if (!row.usable(environment_).ok()) continue;
    Kind& kind = kinds_.emplace_back(Kind{&row});
    for (std::size_t i = 0; i < (row.helpers ? helpers : 1); ++i) {
      domains_.push_back(make_domain());
      kind.engines.push_back(row.make(*domains_.back(), environment_, row.helpers ? settings(i) : HelperSettings{}));
      all_.push_back(kind.engines.back().get());
    }
  }
}

Engine* Engines::next(bool callers_only) {
  if (kinds_.empty()) return nullptr;
  const auto run_by_callers = std::ranges::find_if(kinds_, [](const Kind& kind) { return !kind.row->helpers; });
  const Kind& kind = callers_only && run_by_callers != kinds_.end() ? *run_by_callers : kinds_.front();
  if (kind.engines.size() == 1) return kind.engines.front().get();
  return kind.engines[dealt_.fetch_add(1, std::memory_order_relaxed) % kind.engines.size()].get();
}

Engine* Engines::named(std::string_view name) const {
  const auto kind = std::ranges::find_if(kinds_, [&](const Kind& one) { return one.row->name == name; });
  return kind != kinds_.end() ? kind->engines.front().get() : nullptr;
}

std::string Engines::why_not(std::string_view name) const {
  const EngineRow* const row = engine_row(name);
  if (row == nullptr) return "there is no engine of this name";
  const Status usable = row->usable(environment_);
  return usable.ok() ? "" : usable.error().message;
}

}  // namespace urakata::engine
