// SPDX-License-Identifier: BSD-3-Clause
// The table of engines, and the engines of a process, which are made from the table. A further engine takes a row of
// this table, a file in this folder, its name among the choices of option ENGINE, and a row in the table of
// tune/engine_choice.cpp.
//
// Thread-safety: make() once, before any other thread uses the object; all else by any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "engine/thread.hpp"

namespace urakata::engine {

struct EngineRow {
  std::string_view name;  // a choice of option ENGINE
  bool progress_threads;  // whether it has a progress thread on a core that was chosen for it; else callers run it
  // `periodic`: the MPI library does not call Urakata while a rank waits in it, and a thread of ours may call the MPI
  // library. `settings`: for the engine's progress thread, if it has one.
  std::unique_ptr<Engine> (*make)(Domain& domain, bool periodic, const ProgressThreadSettings& settings);
  // Makes the domain of an engine that needs a domain of its own kind; nullptr: Engines::make() uses make_domain.
  std::unique_ptr<Domain> (*domain)(const transport::Failures& failures) = nullptr;
};

std::span<const EngineRow> engine_table();

class Engines {
 public:
  // Makes the engines of these names and a domain for each, and ignores names without a row. The names are given best
  // first; an engine that runs only instances made for it (engine `kernel`) comes last. `periodic`, `settings`: see
  // EngineRow::make. `failures`: the notices of other ranks, for EngineRow::domain; must outlive the engines.
  // make_domain() gets whether a progress thread runs the domain.
  void make(std::span<const std::string_view> names, bool periodic, const transport::Failures& failures,
            const std::function<std::unique_ptr<Domain>(bool progress_thread)>& make_domain,
            const ProgressThreadSettings& settings);

  const std::vector<Engine*>& all() const { return all_; }
  // The best engine; only after make() has made one.
  Engine& best() const { return *kinds_.front().engine; }
  // The engine for a new communicator: the best one, or, with `callers_only`, the best one without a progress thread,
  // if there is one. nullptr before make().
  Engine* next(bool callers_only) const;
  // The engine whose row has this name; nullptr: it was not made.
  Engine* named(std::string_view name) const;

 private:
  struct Kind {
    const EngineRow* row;
    std::unique_ptr<Engine> engine;
  };

  std::vector<std::unique_ptr<Domain>> domains_;
  std::vector<Kind> kinds_;  // the engines that were made, best first
  std::vector<Engine*> all_;
};

}  // namespace urakata::engine
