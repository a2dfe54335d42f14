// SPDX-License-Identifier: BSD-3-Clause
// Engine `poll` without a progress thread: instances advance inside MPI calls only. For an MPI library that does not
// call Urakata while it blocks, but allows calls by a thread of ours: periodic_engine.hpp.
#pragma once

#include "engine/engine.hpp"

namespace urakata::engine {

class PollEngine final : public Engine {
 public:
  using Engine::Engine;
  std::string_view name() const override { return "poll"; }
  void start_all(Domain::Starts starts) override { begin(starts); }
  void start(Instance& instance) override { begin(instance); }
};

}  // namespace urakata::engine
