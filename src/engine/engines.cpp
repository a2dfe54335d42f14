// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engines.hpp"

#include <algorithm>
#include <array>

#include "engine/kernel_engine.hpp"
#include "engine/periodic_engine.hpp"
#include "engine/poll.hpp"

namespace urakata::engine {

namespace {

std::unique_ptr<Engine> make_thread(Domain& domain, bool, const ProgressThreadSettings& settings) {
  return std::make_unique<ThreadEngine>(domain, settings);
}

std::unique_ptr<Engine> make_poll(Domain& domain, bool periodic, const ProgressThreadSettings&) {
  if (periodic) return std::make_unique<PeriodicEngine>(domain);
  return std::make_unique<PollEngine>(domain);
}

constexpr std::array kCoreRows = {EngineRow{"thread", true, make_thread}, EngineRow{"poll", false, make_poll}};

// The order of the rows means nothing: the names given to Engines::make() say which engines are made, best first.
const std::vector<EngineRow>* make_rows() {
  auto* const rows = new std::vector<EngineRow>(kCoreRows.begin(), kCoreRows.end());
  rows->insert(rows->end(), kernel_rows().begin(), kernel_rows().end());
  return rows;
}

}  // namespace

std::span<const EngineRow> engine_table() {
  static const std::vector<EngineRow>* const rows = make_rows();  // never destroyed: engines point to its rows
  return *rows;
}

void Engines::make(std::span<const std::string_view> names, bool periodic, const transport::Failures& failures,
                   const std::function<std::unique_ptr<Domain>(bool progress_thread)>& make_domain,
                   const ProgressThreadSettings& settings) {
  for (const std::string_view name : names) {
    const auto rows = engine_table();
    const auto found = std::ranges::find(rows, name, &EngineRow::name);
    if (found == rows.end()) continue;
    const EngineRow* const row = &*found;
    domains_.push_back(row->domain != nullptr ? row->domain(failures) : make_domain(row->progress_threads));
    kinds_.push_back(
        {row, row->make(*domains_.back(), periodic, row->progress_threads ? settings : ProgressThreadSettings{})});
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
