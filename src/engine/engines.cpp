// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engines.hpp"

#include <algorithm>
#include <array>

#include "engine/fallback.hpp"
#include "engine/kernel.hpp"
#include "engine/poll.hpp"

namespace urakata::engine {

namespace {

std::unique_ptr<Engine> make_thread(Domain& domain, bool, const HelperSettings& settings) {
  return std::make_unique<ThreadEngine>(domain, settings);
}

std::unique_ptr<Engine> make_poll(Domain& domain, bool fallback, const HelperSettings&) {
  if (fallback) return std::make_unique<FallbackEngine>(domain);
  return std::make_unique<PollEngine>(domain);
}

std::unique_ptr<Domain> kernel_domain(const transport::Failures& failures) {
  return std::make_unique<Domain>(std::make_unique<ExecutorTransport>(failures));
}

std::unique_ptr<Engine> make_kernel(Domain& domain, bool, const HelperSettings&) {
  return std::make_unique<KernelEngine>(domain, static_cast<ExecutorTransport&>(domain.transport()));
}

// In any order: which are made, and which of them is the best, is said where they are made.
constexpr std::array kEngineRows = {EngineRow{"thread", true, make_thread}, EngineRow{"poll", false, make_poll},
                                    EngineRow{"kernel", false, make_kernel, kernel_domain}};

}  // namespace

std::span<const EngineRow> engine_table() { return kEngineRows; }

void Engines::make(std::span<const std::string_view> names, bool fallback, std::size_t helpers,
                   const transport::Failures& failures,
                   const std::function<std::unique_ptr<Domain>(bool helper)>& make_domain,
                   const std::function<HelperSettings(std::size_t)>& settings) {
  for (const std::string_view name : names) {
    const auto* const row = std::ranges::find(kEngineRows, name, &EngineRow::name);
    if (row == kEngineRows.end()) continue;
    Kind& kind = kinds_.emplace_back(Kind{row});
    for (std::size_t i = 0; i < (row->helpers ? helpers : 1); ++i) {
      domains_.push_back(row->domain != nullptr ? row->domain(failures) : make_domain(row->helpers));
      kind.engines.push_back(row->make(*domains_.back(), fallback, row->helpers ? settings(i) : HelperSettings{}));
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

}  // namespace urakata::engine
