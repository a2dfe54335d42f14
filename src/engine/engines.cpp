// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engines.hpp"

#include <algorithm>
#include <array>

#include "engine/fallback.hpp"
#include "engine/kernel.hpp"
#include "engine/poll.hpp"

namespace urakata::engine {

namespace {

std::unique_ptr<Engine> make_thread(Domain& domain, bool, const ProgressThreadSettings& settings) {
  return std::make_unique<ThreadEngine>(domain, settings);
}

std::unique_ptr<Engine> make_poll(Domain& domain, bool fallback, const ProgressThreadSettings&) {
  if (fallback) return std::make_unique<FallbackEngine>(domain);
  return std::make_unique<PollEngine>(domain);
}

std::unique_ptr<Domain> kernel_domain(const transport::Failures& failures) {
  return std::make_unique<Domain>(std::make_unique<ExecutorTransport>(failures));
}

std::unique_ptr<Engine> make_kernel(Domain& domain, bool, const ProgressThreadSettings&) {
  return std::make_unique<KernelEngine>(domain, static_cast<ExecutorTransport&>(domain.transport()));
}

// In any order: which are made, and which of them is the best, is said where they are made.
constexpr std::array kEngineRows = {EngineRow{"thread", true, make_thread}, EngineRow{"poll", false, make_poll},
                                    EngineRow{"kernel", false, make_kernel, kernel_domain}};

}  // namespace

std::span<const EngineRow> engine_table() { return kEngineRows; }

void Engines::make(std::span<const std::string_view> names, bool fallback, const transport::Failures& failures,
                   const std::function<std::unique_ptr<Domain>(bool progress_thread)>& make_domain,
                   const ProgressThreadSettings& settings) {
  for (const std::string_view name : names) {
    const auto* const row = std::ranges::find(kEngineRows, name, &EngineRow::name);
    if (row == kEngineRows.end()) continue;
    domains_.push_back(row->domain != nullptr ? row->domain(failures) : make_domain(row->progress_threads));
    kinds_.push_back(
        {row, row->make(*domains_.back(), fallback, row->progress_threads ? settings : ProgressThreadSettings{})});
    all_.push_back(kinds_.back().engine.get());
  }
}

Engine* Engines::next(bool callers_only) const {
  if (kinds_.empty()) return nullptr;
  const auto run_by_callers =
      std::ranges::find_if(kinds_, [](const Kind& kind) { return !kind.row->progress_threads; });
  return (callers_only && run_by_callers != kinds_.end() ? *run_by_callers : kinds_.front()).engine.get();
}

Engine* Engines::named(std::string_view name) const {
  const auto kind = std::ranges::find_if(kinds_, [&](const Kind& one) { return one.row->name == name; });
  return kind != kinds_.end() ? kind->engine.get() : nullptr;
}

}  // namespace urakata::engine
