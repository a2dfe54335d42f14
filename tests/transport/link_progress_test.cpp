// SPDX-License-Identifier: BSD-3-Clause
// Progress threads that move the links of ranks whose threads compute, wait and start meanwhile. For the thread
// sanitizer, above all.
#include "transport/link/link_progress.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "link_traffic.hpp"

namespace urakata::transport::link_progress_test {
namespace {

using namespace test;

// A rank's thread: most of the time it leaves all to its progress thread.
struct Program {
  Program(Node& of, const LinkProgress::Settings& settings)
      : node(of), progress_thread(*of.endpoint, *of.link, waiting, settings) {}

  void compute_or_wait() {
    progress_thread.expect(turns % 3 != 0);
    if (++turns % 8 == 0) return wait();
    for (unsigned i = 0; i < turns % 64; ++i) std::this_thread::yield();
  }
  void wait() {
    waiting.fetch_add(1, std::memory_order_relaxed);
    progress_thread.note_wait();
    for (unsigned i = 0; i < 20; ++i) node.endpoint->progress();
    waiting.fetch_sub(1, std::memory_order_relaxed);
  }

  Node& node;
  std::atomic<unsigned> waiting{0};
  unsigned turns = 0;
  LinkProgress progress_thread;
};

class ProgressThreads : public ::testing::TestWithParam<std::uint64_t> {};

// `long_gap_ns` 0: they never stand back; else they do after waits that come soon.
TEST_P(ProgressThreads, MoveWhatTheProgramLeaves) {
  constexpr std::int32_t kRanks = 3;
  const std::uint64_t seed = drawn_seed();
  std::vector<Node> nodes = job(kRanks, {}, p2p::Callers::one_and_often);
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::int32_t i = 0; i < kRanks; ++i) {
    Node& node = nodes[static_cast<std::size_t>(i)];
    Program& program =
        *programs.emplace_back(std::make_unique<Program>(node, LinkProgress::Settings{.long_gap_ns = GetParam()}));
    ranks.push_back(std::make_unique<Rank>(i, kRanks, 20, seed, node, [&program] { program.compute_or_wait(); }));
  }
  std::atomic<std::int32_t> busy{kRanks};
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < ranks.size(); ++own) {
    threads.emplace_back([&, own] {
      while (!ranks[own]->has_all()) ranks[own]->turn();
      programs[own]->progress_thread.stop();
      while (!ranks[own]->over()) programs[own]->wait();
      --busy;
      while (busy.load() != 0 || !nodes[own].link->flushed()) programs[own]->wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& rank : ranks) rank->check();
}
INSTANTIATE_TEST_SUITE_P(LinkProgress, ProgressThreads, ::testing::Values(0, 1'000'000));

// Nobody moves a rank's messages but its progress thread, from its sleep on.
TEST(LinkProgress, MovesALongMessageAlone) {
  std::vector<Node> nodes = job(2, {}, p2p::Callers::one_and_often);
  std::vector<std::unique_ptr<Program>> programs;
  for (Node& node : nodes) programs.push_back(std::make_unique<Program>(node, LinkProgress::Settings{}));
  std::vector<std::byte> out(3'000'000, std::byte{7});
  std::vector<std::byte> in(out.size());
  for (int round = 0; round < 3; ++round) {
    Request& receive = nodes[1].endpoint->receive({1, 0, 0}, {in.data(), in.size(), nullptr});
    programs[1]->progress_thread.expect(true);
    Request* const send =
        nodes[0].endpoint->send(LinkPeer{1}, {1, 0, 0}, {out.data(), out.size(), nullptr}, Mode::standard);
    programs[0]->progress_thread.expect(true);
    ASSERT_NE(send, nullptr);
    while (!receive.done() || !send->done()) std::this_thread::yield();
    EXPECT_TRUE(in == out);
    nodes[1].endpoint->release(receive);
    nodes[0].endpoint->release(*send);
    std::fill(in.begin(), in.end(), std::byte{});
  }
  for (auto& program : programs) program->progress_thread.stop();
}

}  // namespace
}  // namespace urakata::transport::link_progress_test
