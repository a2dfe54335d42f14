// SPDX-License-Identifier: BSD-3-Clause
#include "base/options/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace urakata {
namespace {

const Option& row(std::string_view name) { return **option_named(name); }

std::string refusal(std::string_view name, std::string_view value, AlgorithmCheck check = nullptr) {
  const Status status = check_option(row(name), value, check);
  return status ? "accepted" : status.error().message;
}

TEST(Options, DefaultsOfTheTableAreValid) {
  for (const Option& option : option_table()) {
    EXPECT_EQ(refusal(option.name, option.standard), "accepted") << option.name;
    EXPECT_FALSE(option.sentence.empty()) << option.name;
  }
}

TEST(Options, NamesAreFoundInEveryForm) {
  EXPECT_EQ(row("URAKATA_PROGRESS_CPUS").name, "PROGRESS_CPUS");
  EXPECT_EQ(row("progress-cpus").name, "PROGRESS_CPUS");
  EXPECT_EQ(row("Engine").name, "ENGINE");
}

TEST(Options, MisspeltNameIsToldTheNearest) {
  EXPECT_EQ(option_named("ENGIEN").error().message, "no option is called \"ENGIEN\"; did you mean ENGINE?");
  EXPECT_NE(option_named("XYZZY").error().message.find("the options are ENGINE, PLACEMENT"), std::string::npos);
}

TEST(Options, BadValueIsToldTheValidOnes) {
  EXPECT_EQ(refusal("ENGINE", "turbo"), "URAKATA_ENGINE=turbo: not a valid value; use native, poll, thread or kernel");
  EXPECT_EQ(refusal("LANES", "-1"), "URAKATA_LANES=-1: not a valid value; use 0 to 1024");
  EXPECT_EQ(refusal("VERBOSE", "-1"), "URAKATA_VERBOSE=-1: not a valid value; use 0 to 3");
}

TEST(Options, SizesTakeUnits) {
  for (const char* good : {"0", "65536", "64K", "64k", "64KB", "64KiB", "1M", "2G"})
    EXPECT_EQ(refusal("SEGMENT", good), "accepted");
  for (const char* bad : {"K", "64Q", "-1", "64 K", "99999999999G", "18446744073709551616"}) {
    EXPECT_NE(refusal("SEGMENT", bad), "accepted") << bad;
  }
}

TEST(Options, CpuLists) {
  for (const char* good : {"0", "12-15,20", "3,1"}) EXPECT_EQ(refusal("PROGRESS_CPUS", good), "accepted") << good;
  for (const char* bad : {"a", "3-1", "1,", ",1", "1-2-3", "1-", "5000"}) {
    EXPECT_NE(refusal("PROGRESS_CPUS", bad), "accepted") << bad;
  }
}

TEST(Options, SwitchesTakeWords) {
  for (const char* good : {"0", "1", "on", "off", "true", "No"})
    EXPECT_EQ(refusal("TIMELINE", good), "accepted") << good;
  EXPECT_NE(refusal("TIMELINE", "2"), "accepted");
}

Status only_ring(std::string_view operation, std::string_view algorithm) {
  if (algorithm == "ring" && (operation.empty() || operation == "allgather")) return Nothing{};
  return Error{"no such algorithm"};
}

TEST(Options, AlgorithmsAreCheckedByWhoKnowsThem) {
  EXPECT_EQ(refusal("ALGORITHM", "allgather:ring", only_ring), "accepted");
  EXPECT_EQ(refusal("ALGORITHM", "ring", only_ring), "accepted");
  EXPECT_EQ(refusal("ALGORITHM", "bcast:ring", only_ring), "URAKATA_ALGORITHM=bcast:ring: no such algorithm");
  EXPECT_NE(refusal("ALGORITHM", "allgather:", only_ring), "accepted");
  EXPECT_NE(refusal("ALGORITHM", ":ring", only_ring), "accepted");
}

TEST(Options, AnEntryForTheOperationGoesBeforeTheBareName) {
  Options values;
  values.algorithms = "chain,allgather:ring";
  bool bare = false;
  EXPECT_EQ(values.algorithm_for("allgather", &bare), "ring");
  EXPECT_FALSE(bare);
  EXPECT_EQ(values.algorithm_for("bcast", &bare), "chain");
  EXPECT_TRUE(bare);
  values.algorithms = "allgather:ring";
  EXPECT_EQ(values.algorithm_for("bcast"), "");
}

TEST(Options, OldNamesMeanOptionsOfToday) {
  for (const char* name : {"STREAMS", "wire-connections"}) {
    const Option& old = row(name);
    const PresentSetting now = present_setting(old, "4");
    EXPECT_EQ(now.option, &row("CONNECTIONS"));
    EXPECT_STREQ(now.value, "4");
    const std::string written(old.name);
    EXPECT_EQ(now.line, written + "=4 is called CONNECTIONS=4 now; the next release will not accept " + written);
    EXPECT_EQ(refusal(name, "65"), "URAKATA_" + written + "=65: not a valid value; use 0 to 64");
    for (const Option& option : option_table()) EXPECT_NE(option.name, written);
  }
  const PresentSetting same = present_setting(row("CONNECTIONS"), "4");
  EXPECT_EQ(same.option, &row("CONNECTIONS"));
  EXPECT_EQ(same.line, "");
}

TEST(Options, OldValuesMeanValuesOfToday) {
  for (const char* name : {"ENGINE", "TRANSPORT"}) {
    const std::string written(name);
    EXPECT_EQ(refusal(name, "host"), "accepted");
    const PresentSetting now = present_setting(row(name), "Host");
    EXPECT_EQ(now.option, &row(name));
    EXPECT_STREQ(now.value, "native");
    EXPECT_EQ(now.line, written + "=Host is called " + written + "=native now; the next release will not accept Host");
    EXPECT_EQ(present_setting(row(name), "native").line, "");
    EXPECT_EQ(valid_values(row(name)).find("host"), std::string::npos);
  }
  EXPECT_NE(refusal("PLACEMENT", "host"), "accepted");
  ASSERT_TRUE(engine_named("host").ok());
  EXPECT_EQ(*engine_named("host"), EngineKind::native);
}

TEST(Options, ProgressCpusHadAnotherName) {
  const PresentSetting now = present_setting(row("HELPER_CPUS"), "1,3");
  EXPECT_EQ(now.option, &row("PROGRESS_CPUS"));
  EXPECT_STREQ(now.value, "1,3");
  EXPECT_EQ(now.line, "HELPER_CPUS=1,3 is called PROGRESS_CPUS=1,3 now; the next release will not accept HELPER_CPUS");
}

TEST(Options, SwitchesOfNeighbourhoodsAreOneChoice) {
  for (const char* name : {"EXCHANGE_PLANS", "EXCHANGE_MESSAGES"}) {
    for (const char* off : {"0", "off"}) {
      const PresentSetting now = present_setting(row(name), off);
      EXPECT_EQ(now.option, &row("NEIGHBORHOOD"));
      EXPECT_STREQ(now.value, "schedules");
      EXPECT_EQ(now.line, std::string(name) + "=" + off +
                              " is called NEIGHBORHOOD=schedules now; the next release will not accept " + name);
    }
    const PresentSetting on = present_setting(row(name), "1");
    EXPECT_EQ(on.option, nullptr);
    EXPECT_EQ(on.line, "");
    EXPECT_EQ(refusal(name, "2"), std::string("URAKATA_") + name + "=2: not a valid value; use 0 or 1");
  }
  EXPECT_EQ(refusal("NEIGHBORHOOD", "never"),
            "URAKATA_NEIGHBORHOOD=never: not a valid value; use auto, schedules, native or always");
}

TEST(Options, OneThatIsGoneSetsNothing) {
  for (const char* value : {"3", "many"}) {
    EXPECT_EQ(refusal("DOMAINS", value), "accepted");
    const PresentSetting now = present_setting(row("DOMAINS"), value);
    EXPECT_EQ(now.option, nullptr);
    EXPECT_EQ(now.line, std::string("DOMAINS=") + value + " has no effect any more: a rank has one progress thread");
  }
}

// The environment is read once in a process, so what is read is looked at in a process of its own.
void read_and_exit() {
  setenv("URAKATA_ENGINE", "poll", 1);
  setenv("URAKATA_SEGMENT", "64K", 1);
  setenv("URAKATA_TIMELINE", "yes", 1);
  setenv("URAKATA_LANES", "many", 1);
  setenv("URAKATA_ORIGINS", "SEGMENT=job.toml:3;ENGINE=command line", 1);
  setenv("URAKATA_ENGIN", "poll", 1);
  warn_of_unknown_variables();
  warn_of_unknown_variables();
  const Options& read = options();
  const bool good = read.engine == EngineKind::poll && read.segment == 65536 && read.timeline && read.lanes == 0 &&
                    option_origin(row("SEGMENT")) == "job.toml:3" && option_origin(row("ENGINE")) == "command line" &&
                    option_origin(row("TIMELINE")) == "environment" && option_origin(row("NAP_US")) == "default" &&
                    option_value(row("SEGMENT")) == "64K";
  std::exit(good ? 0 : 1);
}

TEST(OptionsDeathTest, EnvironmentIsReadWithOriginsAndComplaints) {
  EXPECT_EXIT(read_and_exit(), testing::ExitedWithCode(0),
              "^urakata: URAKATA_ENGIN is no variable .* did you mean URAKATA_ENGINE\\?\n"
              "urakata: URAKATA_LANES=many: not a valid value; use 0 to 1024; the default is used\n$");
}

// The name of today comes before the old ones, and of those the first.
void read_old_names_and_exit() {
  setenv("URAKATA_STREAMS", "66", 1);
  setenv("URAKATA_WIRE_CONNECTIONS", "3", 1);
  const bool first = std::string_view(in_environment(row("CONNECTIONS"))) == "3";
  setenv("URAKATA_STREAMS", "2", 1);
  setenv("URAKATA_TRANSPORT", "host", 1);
  const bool engine = std::string_view(in_environment(row("TRANSPORT"))) == "native";
  const bool second = std::string_view(in_environment(row("CONNECTIONS"))) == "2";
  warn_of_unknown_variables();
  const bool third = engine && options().transport == TransportWish::native && options().connections == 2 &&
                     option_origin(row("CONNECTIONS")) == "environment";
  setenv("URAKATA_CONNECTIONS", "1", 1);
  const bool last = std::string_view(in_environment(row("CONNECTIONS"))) == "1";
  std::exit(first && second && third && last ? 0 : 1);
}

TEST(OptionsDeathTest, OldVariablesAreReadWithALineForEach) {
  EXPECT_EXIT(read_old_names_and_exit(), testing::ExitedWithCode(0),
              "^urakata: STREAMS=2 is called CONNECTIONS=2 now; the next release will not accept STREAMS\n"
              "urakata: WIRE_CONNECTIONS=3 is called CONNECTIONS=3 now; the next release will not accept "
              "WIRE_CONNECTIONS\n"
              "urakata: TRANSPORT=host is called TRANSPORT=native now; the next release will not accept host\n$");
}

}  // namespace
}  // namespace urakata
