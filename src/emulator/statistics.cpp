// SPDX-License-Identifier: BSD-3-Clause
#include "emulator/statistics.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace urakata::emulator {
namespace {

std::string address_text(std::uint32_t address, std::uint16_t port) {
  const in_addr in_network_order{htonl(address)};
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &in_network_order, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(port);
}

void write_counters(JsonWriter& json, const Counters& counters) {
  json.key("offered").number(counters.offered).key("offered_bytes").number(counters.offered_bytes);
  json.key("delivered").number(counters.delivered).key("delivered_bytes").number(counters.delivered_bytes);
  json.key("dropped").number(counters.dropped).key("lost").number(counters.lost).key("cut").number(counters.cut);
}

}  // namespace

void write_statistics(JsonWriter& json, const Direction& direction) {
  const Settings& settings = direction.settings();
  json.object().key("settings").object();
  json.key("delay_ns").number(settings.delay_ns).key("rate").number(settings.rate).key("queue").number(settings.queue);
  json.key("flow_rate").number(settings.flow_rate).key("flow_queue").number(settings.flow_queue);
  json.key("loss").real(settings.loss).key("cut").boolean(direction.is_cut()).end();
  json.key("segments").object();
  write_counters(json, direction.counters());
  json.key("loss_runs").array();
  for (const std::uint64_t count : direction.loss().runs()) json.number(count);
  json.end().end();

  std::vector<const Direction::Flows::value_type*> flows;
  for (const auto& flow : direction.flows()) flows.push_back(&flow);
  std::sort(flows.begin(), flows.end(), [](const auto* a, const auto* b) {
    return a->second.counters.offered_bytes > b->second.counters.offered_bytes;
  });
  flows.resize(std::min(flows.size(), kMostFlows));
  json.key("flow_count").number(direction.flows().size()).key("flows").array();
  for (const auto* flow : flows) {
    json.object().key("from").string(address_text(flow->first.source, flow->first.source_port));
    json.key("to").string(address_text(flow->first.destination, flow->first.destination_port));
    json.key("protocol").number(flow->first.protocol).key("rate").number(flow->second.rate);
    json.key("is_cut").boolean(flow->second.cut);
    write_counters(json, flow->second.counters);
    json.end();
  }
  json.end().end();
}

}  // namespace urakata::emulator
