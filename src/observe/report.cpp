// SPDX-License-Identifier: BSD-3-Clause
#include "observe/report.hpp"

#include <time.h>
#include <unistd.h>

#include "base/json.hpp"
#include "observe/code.hpp"
#include "observe/node.hpp"
#include "observe/whole_file.hpp"

namespace urakata::observe {
namespace {

constexpr std::uint64_t kFormat = 4;  // raised when readers of the old format would fail

void put(JsonWriter& json, const char* key, const Times& times) {
  json.key(key).object();
  json.key("count").number(times.count()).key("sum").number(times.sum());
  json.key("min").number(times.min()).key("max").number(times.max()).end();
}

void put(JsonWriter& json, const Sample& sample) {
  const Identity& identity = sample.identity;
  json.array().signed_number(identity.first).signed_number(identity.context).number(identity.sequence);
  json.number(identity.ranks).number(sample.begin).number(sample.returned).number(sample.wait).number(sample.end);
  json.number(sample.done)
      .number(sample.tests)
      .number(sample.work.all)
      .number(sample.work.computing)
      .number(sample.calls)
      .end();
}

void put_place(JsonWriter& json, const void* address, const Meta& meta) {
  const CodePlace place = code_place(address, meta.file);
  json.key("module").string(place.module).key("offset").number(place.offset);
  json.key("symbol").string(place.symbol).key("symbol_offset").number(place.symbol_offset);
}

void put(JsonWriter& json, const CallSite& site, const Meta& meta) {
  const CallSiteKey key = site.key();
  json.object().key("number").number(site.number()).key("operation").string(key.operation);
  json.key("bytes").number(key.bytes).key("engine").string(key.engine);
  json.key("algorithm").string(key.algorithm).key("why").string(site.why());
  put_place(json, key.address, meta);
  if (key.python != nullptr) {
    json.key("python").object().key("file").string(key.python->file);
    json.key("line").signed_number(key.python->line).key("function").string(key.python->function).end();
  }
  json.key("started").number(site.started.load(std::memory_order_relaxed));
  put(json, "start", site.start);
  put(json, "gap", site.gap);
  put(json, "test", site.test);
  put(json, "wait", site.wait);
  put(json, "in_flight", site.in_flight);
  put(json, "overlapped", site.overlapped);
  json.key("progress_thread_ns").number(site.progress_thread_ns.load(std::memory_order_relaxed)).key("samples").array();
  for (const Sample& sample : site.samples.all()) put(json, sample);
  json.end().end();
}

void put(JsonWriter& json, const MessageSite& site, const Meta& meta) {
  const MessageKey key = site.key();
  json.object().key("operation").string(key.operation).key("carrier").string(key.carrier);
  put_place(json, key.address, meta);
  const auto number = [&](const char* what, const std::atomic<std::uint64_t>& counter) {
    json.key(what).number(counter.load(std::memory_order_relaxed));
  };
  number("messages", site.messages);
  number("sized", site.sized);
  number("bytes", site.bytes);
  number("waited", site.waited);
  number("waited_ns", site.waited_ns);
  number("done_at_once", site.done_at_once);
  number("timed", site.timed);
  number("life_ns", site.life_ns);
  number("gap_ns", site.gap_ns);
  number("overlapped_ns", site.overlapped_ns);
  json.end();
}

void put(JsonWriter& json, const Track& track) {
  json.object().key("name").string(track.name()).key("lost").number(track.lost()).key("spans").array();
  for (const Span& span : track.spans()) json.array().number(span.begin).number(span.end).end();
  json.end().end();
}

std::string text_of(const Observer& observer, const Meta& meta) {
  JsonWriter json;
  json.object().key("urakata_report").number(kFormat);
  json.key("rank").number(meta.rank).key("ranks").number(meta.ranks);
  json.key("job").number(meta.job).key("node_ranks").number(meta.node_ranks);
  json.key("node_cores").number(meta.node_cores);
  json.key("host").string(host_name()).key("pid").signed_number(getpid());
  json.key("clock").string(clock_name());
  json.key("program").string(meta.program).key("mpi_library").string(meta.mpi_library).key("abi").string(meta.abi);
  json.key("engine").string(meta.engine).key("engine_why").string(meta.engine_why);
  json.key("transport").string(meta.transport).key("transport_why").string(meta.transport_why);
  json.key("messages_by").string(meta.messages).key("messages_why").string(meta.messages_why);
  json.key("messages_progress_thread").boolean(meta.messages_progress);
  json.key("space").object().key("asked").boolean(meta.space.asked).key("ranks").number(meta.space.ranks);
  json.key("why").string(meta.space.why).end();
  if (!meta.sites.found.empty()) {
    json.key("sites").object().key("found").string(meta.sites.found).key("ways").array();
    for (const Meta::Sites::Traffic& way : meta.sites.ways) {
      json.object().key("site").string(way.site).key("round_trip_ms").real(way.round_trip_ms);
      json.key("bytes").number(way.bytes).key("pieces").number(way.pieces).key("again").number(way.again);
      json.key("connections").number(way.connections).key("lost").number(way.lost).end();
    }
    json.end().key("links").array();
    for (const Meta::Sites::Link& link : meta.sites.links) {
      json.object().key("one").string(link.one).key("other").string(link.other).key("source").string(link.source);
      json.key("delay_ms").real(link.delay_ms).key("stream_mbit").real(link.stream_mbit);
      json.key("pair_mbit").real(link.pair_mbit).key("link_mbit").real(link.link_mbit);
      json.key("inside_mbit").real(link.inside_mbit).key("loss_percent").real(link.loss_percent).end();
    }
    json.end().end();
  }
  json.key("init_ns").number(meta.init_ns).key("finalize_ns").number(meta.finalize_ns);
  json.key("realtime_minus_monotonic_ns").signed_number(realtime_minus_monotonic_ns());
  json.key("caller_cpu_seconds").real(meta.caller_cpu_seconds);
  json.key("fences").number(meta.fences);
  if (!meta.devices.drivers.empty()) {
    json.key("devices").object().key("drivers").string(meta.devices.drivers);
    json.key("fetched").number(meta.devices.fetched).key("stored").number(meta.devices.stored).end();
  }
  json.key("progress_threads").array();
  for (const Meta::ProgressThreadFacts& progress_thread : meta.progress_threads) {
    json.object().key("placement").string(progress_thread.placement).key("cpus").string(progress_thread.cpus);
    json.key("cpu_seconds").real(progress_thread.cpu_seconds).end();
  }
  json.end().key("options").array();
  for (const Meta::Setting& option : meta.options) {
    json.object().key("name").string(option.name).key("value").string(option.value);
    json.key("origin").string(option.origin).end();
  }
  json.end().key("call_sites").array();
  for (const CallSite* site : observer.call_sites()) put(json, *site, meta);
  json.end().key("messages").array();
  for (const MessageSite* site : observer.message_sites()) put(json, *site, meta);
  json.end().key("tracks").array();
  for (const auto& track : observer.tracks()) put(json, *track);
  json.end().end();
  return json.text() + "\n";
}

}  // namespace

Status write(const Observer& observer, const std::string& directory, const Meta& meta) {
  if (Status made = make_folder(directory); !made) return made;
  const std::string path = directory + "/rank-" + std::to_string(meta.rank) + ".json";
  if (Status ours = may_replace(path, kReportMark); !ours) return ours;
  return write_whole(path, text_of(observer, meta));
}

}  // namespace urakata::observe
