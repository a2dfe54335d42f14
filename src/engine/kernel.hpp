// Engine `kernel`: whole operations are handed to the Linux kernel, which carries them on by itself (chain/conduit.hpp).
//
// It runs instances whose schedule was compiled and whose group has a conduit. What a domain is to other engines, who
// post message after message, is here only the order of starts and ends: the transport knows conduits and no messages.
// A start hands the operation over within the call, by the calling thread, since requests belong to the thread that
// submits them; so it waits for whoever polls the domain at the moment, which is for less than a step.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "chain/conduit.hpp"
#include "engine/engine.hpp"

namespace urakata::engine {

class ConduitTransport final : public transport::Transport {
 public:
  explicit ConduitTransport(const transport::Failures& failures);
  ~ConduitTransport() override;
  ConduitTransport(const ConduitTransport&) = delete;
  ConduitTransport& operator=(const ConduitTransport&) = delete;

  // By any thread. A conduit that goes has nothing in flight.
  void add(chain::Conduit& conduit);
  void remove(chain::Conduit& conduit);

  int send(const transport::Message& message, transport::Ticket ticket, bool* finished) override;
  int recv(const transport::Message& message, transport::Ticket ticket, bool* finished) override;
  std::span<const transport::Completion> poll() override;
  std::size_t in_flight() const override;
  std::size_t cancel(const void* instance) override;
  void tell(std::int32_t peer, const transport::Notice& notice) override;
  const transport::Failures& failures() const override { return failures_; }
  std::vector<int> news() const override { return {news_}; }
  Wakeup wakeup() const override { return Wakeup::news; }

 private:
  const transport::Failures& failures_;
  int news_;  // an epoll set of all conduits
  mutable std::mutex lock_;
  std::vector<chain::Conduit*> conduits_;
  std::vector<chain::Conduit::Done> done_;  // kept for its room
  std::vector<transport::Completion> reported_;
};

class KernelEngine final : public Engine {
 public:
  // The domain's transport is the given one.
  KernelEngine(Domain& domain, ConduitTransport& transport) : Engine(domain), transport_(transport) {}
  std::string_view name() const override { return "kernel"; }
  void start_all(Domain::Starts starts) override;
  void start_awaited(Instance& instance) override { start(instance); }
  ConduitTransport& conduits() { return transport_; }

 private:
  ConduitTransport& transport_;
};

}  // namespace urakata::engine
