// SPDX-License-Identifier: BSD-3-Clause
#include "case.hpp"

#include <algorithm>
#include <numeric>

namespace urakata::collectives {
namespace {

using simulate::Bytes;

constexpr std::byte kUntouched{0xee};
constexpr std::uint64_t kGuard = 16;  // bytes between and around blocks that nobody may touch

bool in(Operation operation, std::initializer_list<Operation> set) {
  return std::find(set.begin(), set.end(), operation) != set.end();
}

// A user buffer with its expected content after the run.
struct Buffer {
  Bytes now;
  Bytes expected;

  explicit Buffer(std::uint64_t size = 0) : now(size, kUntouched), expected(size, kUntouched) {}
};

class Scene {
 public:
  explicit Scene(const Case& c) : c_(c), random_(c.seed) {
    element_ = is_reduction(c.operation) ? 8 : 1;
    extent_ = is_reduction(c.operation) ? c.extent : 1;
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      send_.emplace_back();
      recv_.emplace_back();
    }
    // Sizes of the v-forms: block (i, j), some empty, some longer than the others.
    sizes_.assign(c.ranks, std::vector<std::uint64_t>(c.ranks, c.bytes));
    const bool v = in(c.operation, {Operation::gatherv, Operation::scatterv, Operation::allgatherv,
                                    Operation::alltoallv, Operation::reduce_scatter});
    for (std::uint32_t i = 0; v && i < c.ranks; ++i) {
      for (std::uint32_t j = 0; j < c.ranks; ++j)
        sizes_[i][j] = c.bytes * ((i * 3 + j * 5 + 1) % 4) / 2 / element_ * element_;
    }
    for (std::uint32_t i = 0; v && c.in_place && i < c.ranks; ++i) {
      for (std::uint32_t j = 0; j < i; ++j) sizes_[i][j] = sizes_[j][i];  // swapped blocks are of one size
    }
  }

  std::string run(const Algorithm& algorithm) {
    fill();
    std::vector<schedule::Schedule> schedules;
    for (std::uint32_t r = 0; r < c_.ranks; ++r) {
      auto built = algorithm.build(arguments(r));
      if (!built) return built.error().message;
      schedules.push_back(std::move(*built));
    }
    std::vector<std::vector<Bytes>> buffers;
    for (std::uint32_t r = 0; r < c_.ranks; ++r) buffers.push_back({send_[r].now, recv_[r].now});
    simulate::Elements elements{.size = element_, .extent = extent_, .combine = c_.commutative ? sum : compose};
    const std::string story = simulate::Simulation(schedules, buffers, elements, c_.seed, kGuard).run();
    if (!story.empty()) return story;
    for (std::uint32_t r = 0; r < c_.ranks; ++r) {
      if (buffers[r][0] != send_[r].expected) return "rank " + std::to_string(r) + "'s send buffer was written";
      for (std::size_t k = 0; k < recv_[r].expected.size(); ++k) {
        if (buffers[r][1][k] != recv_[r].expected[k]) {
          return "rank " + std::to_string(r) + "'s receive buffer is wrong at byte " +
                 std::to_string(static_cast<std::int64_t>(k) - static_cast<std::int64_t>(kGuard)) + " of " +
                 std::to_string(recv_[r].expected.size() - 2 * kGuard);
        }
      }
    }
    return {};
  }

 private:
  std::uint64_t memory(std::uint64_t bytes) const { return bytes / element_ * extent_; }

  Bytes random_bytes(std::uint64_t bytes) {
    Bytes out(bytes);
    for (std::byte& b : out) b = static_cast<std::byte>(random_());
    return out;
  }

  static void put(Bytes& buffer, std::uint64_t memory_offset, const Bytes& payload, std::uint64_t element,
                  std::uint64_t extent) {
    for (std::uint64_t k = 0; k * element < payload.size(); ++k) {
      std::memcpy(buffer.data() + kGuard + memory_offset + k * extent, payload.data() + k * element, element);
    }
  }
  void give(Buffer& buffer, std::uint64_t memory_offset, const Bytes& payload) {
    put(buffer.now, memory_offset, payload, element_, extent_);
    put(buffer.expected, memory_offset, payload, element_, extent_);
  }
  void expect(Buffer& buffer, std::uint64_t memory_offset, const Bytes& payload) {
    put(buffer.expected, memory_offset, payload, element_, extent_);
  }

  Bytes combined(const std::vector<Bytes>& inputs, std::uint32_t last) const {  // ranks 0 .. last
    Bytes right = inputs[last];
    for (std::uint32_t r = last; r-- > 0;) {
      for (std::uint64_t k = 0; k < right.size(); k += element_) {
        (c_.commutative ? sum : compose)(inputs[r].data() + k, right.data() + k);
      }
    }
    return right;
  }

  bool in_place(std::uint32_t r) const {
    const bool at_root = in(c_.operation, {Operation::gather, Operation::gatherv, Operation::scatter,
                                           Operation::scatterv, Operation::reduce});
    return c_.in_place && (!at_root || r == c_.root);
  }

  // Blocks one after another, in reverse order of ranks for the v-forms, with guards between them.
  std::vector<std::int64_t> displaced(const std::vector<std::uint64_t>& sizes, std::uint64_t* total) const {
    std::vector<std::int64_t> at(sizes.size());
    *total = 0;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      at[i] = static_cast<std::int64_t>(*total);
      *total += sizes[i] + kGuard;
    }
    return at;
  }

  Buffer sized(std::uint64_t bytes) const { return Buffer(memory(bytes) + 2 * kGuard); }

  void fill() {
    const std::uint32_t n = c_.ranks;
    const std::uint64_t b = c_.bytes;
    send_bytes_.assign(n, {});
    recv_bytes_.assign(n, {});
    send_at_.assign(n, {});
    recv_at_.assign(n, {});
    switch (c_.operation) {
      case Operation::barrier:
        break;
      case Operation::bcast: {
        const Bytes data = random_bytes(b);
        for (std::uint32_t r = 0; r < n; ++r) {
          recv_[r] = sized(b);
          if (r == c_.root) give(recv_[r], 0, data);
          expect(recv_[r], 0, data);
        }
        break;
      }
      case Operation::gather:
      case Operation::gatherv:
      case Operation::scatter:
      case Operation::scatterv:
      case Operation::allgather:
      case Operation::allgatherv:
      case Operation::alltoall:
      case Operation::alltoallv:
        fill_exchange();
        break;
      case Operation::neighbor_alltoallv:
        fill_neighbours();
        break;
      default:
        fill_reduction();
    }
  }

  // Everything is an exchange of blocks (i, j) from rank i to rank j; in the send buffer ordered by j, in the receive
  // buffer by i.
  void fill_exchange() {
    const std::uint32_t n = c_.ranks;
    const Operation op = c_.operation;
    const bool v = in(op, {Operation::gatherv, Operation::scatterv, Operation::allgatherv, Operation::alltoallv});
    const bool to_root = in(op, {Operation::gather, Operation::gatherv});
    const bool from_root = in(op, {Operation::scatter, Operation::scatterv});
    const bool same = in(op, {Operation::allgather, Operation::allgatherv});
    std::vector<std::vector<Bytes>> block(n, std::vector<Bytes>(n));
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        if (same || to_root) sizes_[i][j] = sizes_[i][0];
        if (from_root) sizes_[i][j] = sizes_[0][j];
        block[i][j] = same && j > 0 ? block[i][0] : random_bytes(sizes_[i][j]);
      }
    }
    for (std::uint32_t r = 0; r < n; ++r) {
      for (std::uint32_t p = 0; p < n; ++p) {
        send_bytes_[r].push_back(sizes_[r][p]);
        recv_bytes_[r].push_back(sizes_[p][r]);
      }
      std::uint64_t send_total = n * c_.bytes;
      std::uint64_t recv_total = n * c_.bytes;
      for (std::uint32_t p = 0; p < n; ++p) {
        send_at_[r].push_back(static_cast<std::int64_t>(p * c_.bytes));
        recv_at_[r].push_back(static_cast<std::int64_t>(p * c_.bytes));
      }
      if (v) send_at_[r] = displaced(send_bytes_[r], &send_total);
      if (v) recv_at_[r] = displaced(recv_bytes_[r], &recv_total);
      const bool one_out = same || to_root;
      const bool one_in = from_root;
      send_[r] = sized(one_out ? sizes_[r][0] : send_total);
      recv_[r] = sized(one_in ? sizes_[0][r] : recv_total);
      const auto offset = [](std::int64_t at) { return static_cast<std::uint64_t>(at); };
      if (!in_place(r) || from_root) {
        if (one_out) {
          give(send_[r], 0, block[r][c_.root]);
        } else if (!from_root || r == c_.root) {
          for (std::uint32_t p = 0; p < n; ++p) give(send_[r], offset(send_at_[r][p]), block[r][p]);
        }
      } else if (same || to_root) {
        give(recv_[r], offset(recv_at_[r][r]), block[r][c_.root]);
      } else {
        for (std::uint32_t p = 0; p < n; ++p) give(recv_[r], offset(recv_at_[r][p]), block[r][p]);
      }
      if (to_root && r != c_.root) continue;
      if (from_root) {
        if (!in_place(r)) expect(recv_[r], 0, block[c_.root][r]);
        continue;
      }
      for (std::uint32_t p = 0; p < n; ++p) expect(recv_[r], offset(recv_at_[r][p]), block[p][to_root ? c_.root : r]);
    }
  }

  // Each rank sends to up to four others, to itself and to nobody too, or twice to the same one.
  void fill_neighbours() {
    const std::uint32_t n = c_.ranks;
    destinations_.assign(n, {});
    sources_.assign(n, {});
    order_.assign(n, {});
    std::vector<std::vector<Bytes>> sent(n);
    const auto some = [&](std::uint64_t count) { return static_cast<std::uint32_t>(random_() % count); };
    for (std::uint32_t r = 0; r < n; ++r) {
      for (std::uint32_t left = some(5); left > 0; --left) {
        const bool nobody = some(5) == 0;
        destinations_[r].push_back(nobody ? Neighbourhood::kNobody : some(n));
        if (!nobody) sources_[destinations_[r].back()].push_back(r);
        sent[r].push_back(random_bytes(c_.bytes * some(4) / 2));
        send_bytes_[r].push_back(sent[r].back().size());
      }
    }
    for (std::uint32_t r = 0; r < n; ++r) {
      if (some(2) == 0) sources_[r].push_back(Neighbourhood::kNobody);
      std::shuffle(sources_[r].begin(), sources_[r].end(), random_);
      order_[r].resize(sources_[r].size());
      std::iota(order_[r].begin(), order_[r].end(), 0U);
      std::shuffle(order_[r].begin(), order_[r].end(), random_);
      std::vector<const Bytes*> got(sources_[r].size());
      std::vector<std::size_t> met(n);
      for (const std::uint32_t s : order_[r]) {
        if (sources_[r][s] == Neighbourhood::kNobody) continue;
        std::size_t& next = met[sources_[r][s]];
        while (destinations_[sources_[r][s]][next] != r) ++next;
        got[s] = &sent[sources_[r][s]][next++];
      }
      for (const Bytes* bytes : got) recv_bytes_[r].push_back(bytes == nullptr ? c_.bytes : bytes->size());
      std::uint64_t total = 0;
      send_at_[r] = displaced(send_bytes_[r], &total);
      send_[r] = sized(total);
      recv_at_[r] = displaced(recv_bytes_[r], &total);
      recv_[r] = sized(total);
      for (std::size_t d = 0; d < sent[r].size(); ++d) {
        give(send_[r], static_cast<std::uint64_t>(send_at_[r][d]), sent[r][d]);
      }
      for (std::size_t s = 0; s < got.size(); ++s) {
        if (got[s] != nullptr) expect(recv_[r], static_cast<std::uint64_t>(recv_at_[r][s]), *got[s]);
      }
    }
  }

  void fill_reduction() {
    const std::uint32_t n = c_.ranks;
    const Operation op = c_.operation;
    const bool scattered = in(op, {Operation::reduce_scatter, Operation::reduce_scatter_block});
    std::uint64_t total = scattered ? 0 : c_.bytes;
    for (std::uint32_t p = 0; scattered && p < n; ++p) total += sizes_[0][p];
    std::vector<Bytes> inputs;
    for (std::uint32_t r = 0; r < n; ++r) inputs.push_back(random_bytes(total));
    std::uint64_t begin = 0;
    for (std::uint32_t r = 0; r < n; ++r) {
      const std::uint64_t mine = scattered ? sizes_[0][r] : total;
      for (std::uint32_t p = 0; p < n; ++p) recv_bytes_[r].push_back(sizes_[0][p]);
      send_[r] = sized(total);
      recv_[r] = sized(in_place(r) ? total : mine);
      give(in_place(r) ? recv_[r] : send_[r], 0, inputs[r]);
      if (scattered) {
        const Bytes all = combined(inputs, n - 1);
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
        expect(recv_[r], 0, Bytes(from, from + static_cast<std::ptrdiff_t>(mine)));
      } else if (op == Operation::scan) {
        expect(recv_[r], 0, combined(inputs, r));
      } else if (op == Operation::exscan) {
        if (r > 0) expect(recv_[r], 0, combined(inputs, r - 1));
      } else if (op != Operation::reduce || r == c_.root) {
        expect(recv_[r], 0, combined(inputs, n - 1));
      }
      begin += mine;
    }
  }

  Arguments arguments(std::uint32_t r) const {
    Arguments a;
    a.ranks = c_.ranks;
    a.rank = r;
    a.root = c_.root;
    a.in_place = in_place(r);
    a.bytes = c_.bytes;
    if (c_.operation == Operation::gatherv) a.bytes = sizes_[r][0];
    if (c_.operation == Operation::scatterv) a.bytes = sizes_[0][r];
    a.element = element_;
    a.extent = extent_;
    a.commutative = c_.commutative;
    a.segment = c_.segment;
    a.in_turn = c_.in_turn;
    a.send = {.bytes = send_bytes_[r], .displacements = send_at_[r]};
    a.recv = {.bytes = recv_bytes_[r], .displacements = recv_at_[r]};
    if (c_.operation == Operation::neighbor_alltoallv) a.neighbours = {destinations_[r], sources_[r], order_[r]};
    return a;
  }

  Case c_;
  std::mt19937_64 random_;
  std::uint64_t element_, extent_;
  std::vector<Buffer> send_, recv_;
  std::vector<std::vector<std::uint64_t>> sizes_;
  std::vector<std::vector<std::uint64_t>> send_bytes_, recv_bytes_;
  std::vector<std::vector<std::int64_t>> send_at_, recv_at_;
  std::vector<std::vector<std::uint32_t>> destinations_, sources_, order_;  // neighbours
};

}  // namespace

std::string run(const Case& c, const Algorithm& algorithm) { return Scene(c).run(algorithm); }

}  // namespace urakata::collectives
