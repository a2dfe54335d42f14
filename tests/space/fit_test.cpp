// SPDX-License-Identifier: BSD-3-Clause
// A position-independent program of the GNU C library fits; a static, a non-PIE, a sanitised or a cut-off one does not,
// and the reason says what to do. A script stands for its interpreter.
#include "space/fit.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace urakata::space {
namespace {

namespace fs = std::filesystem;

class Fit : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("fit-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& content) const {
    const fs::path path = folder / name;
    std::ofstream(path, std::ios::binary) << content;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  // main() compiled with the options; empty where the compiler cannot.
  std::string program(const std::string& name, const std::string& options) const {
    const std::string source = file("main.c", "int main(void) { return 0; }\n");
    const std::string target = folder / name;
    const std::string command = "cc " + options + " -o " + target + " " + source + " 2>/dev/null";
    return std::system(command.c_str()) == 0 ? target : std::string();
  }

  // The bytes of a program that fits; none where the compiler cannot.
  std::string whole() const {
    std::ifstream input(program("pie", "-fPIE -pie"), std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
  }

  static Result<Command> judge(const std::string& path, std::vector<std::string> words = {"app", "one"}) {
    std::vector<char*> arguments;
    for (std::string& one : words) arguments.push_back(one.data());
    return fit(path, arguments);
  }

  static void refused(const std::string& path, const std::string& because) {
    const Result<Command> command = judge(path);
    ASSERT_FALSE(command);
    EXPECT_NE(command.error().message.find(because), std::string::npos) << command.error().message;
  }

  fs::path folder;
};

TEST_F(Fit, APieProgramStaysItself) {
  const std::string path = program("pie", "-fPIE -pie");
  if (path.empty()) GTEST_SKIP() << "no C compiler";
  const Result<Command> command = judge(path);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->file, fs::canonical(path));
  EXPECT_EQ(command->shown, path);
  EXPECT_EQ(command->arguments, (std::vector<std::string>{"app", "one"}));
}

TEST_F(Fit, OthersAreToldWhy) {
  if (const std::string path = program("nopie", "-fno-pie -no-pie"); !path.empty()) refused(path, "compile with -fPIE");
  if (const std::string path = program("static", "-static"); !path.empty()) refused(path, "statically linked");
  if (const std::string path = program("static-pie", "-static-pie"); !path.empty()) refused(path, "statically linked");
  if (const std::string path = program("asan", "-fsanitize=address"); !path.empty()) refused(path, "AddressSanitizer");
  if (const std::string path = program("musl", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"); !path.empty()) {
    refused(path, "/lib/ld-musl-x86_64.so.1");
  }
  refused(folder / "missing", "cannot be read (No such file or directory)");
  refused(file("text", "no program at all"), "no ELF program");
  refused(folder, "no file that can be run");
}

TEST_F(Fit, AProgramLinkedToADriverOfDevicesIsRefused) {
  const std::string source = file("driver.c", "int driver = 0;\n");
  for (const auto& [library, name] :
       {std::pair("libcuda.so.1", "CUDA"), std::pair("libcudart.so.12", "CUDA"), std::pair("libamdhip64.so.6", "HIP"),
        std::pair("libze_loader.so.1", "Level Zero")}) {
    const std::string target = folder / library;
    const std::string soname = std::string("-Wl,-soname,") + library;
    if (std::system(("cc -shared -fPIC " + soname + " -o " + target + " " + source).c_str()) != 0) GTEST_SKIP();
    refused(program("linked", "-fPIE -pie -Wl,--no-as-needed " + target), name);
  }
}

TEST_F(Fit, ACutOffProgramIsRefused) {
  const std::string bytes = whole();
  if (bytes.empty()) GTEST_SKIP() << "no C compiler";
  refused(file("cut", bytes.substr(0, 100)), "cut off");
  refused(file("quarter", bytes.substr(0, bytes.size() / 4)), "cut off");
}

// Address and size of its first segment add up to 1.
TEST_F(Fit, ASegmentThatWrapsAroundIsRefused) {
  std::string bytes = whole();
  if (bytes.empty()) GTEST_SKIP() << "no C compiler";
  ElfW(Ehdr) header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    char* const place = bytes.data() + header.e_phoff + i * sizeof(ElfW(Phdr));
    ElfW(Phdr) one;
    std::memcpy(&one, place, sizeof one);
    if (one.p_type != PT_LOAD) continue;
    one.p_vaddr = 0x1000;
    one.p_offset = 0x1000;
    one.p_memsz = 1 - one.p_vaddr;
    std::memcpy(place, &one, sizeof one);
    break;
  }
  refused(file("wraps", bytes), "cannot be mapped");
}

TEST_F(Fit, AScriptStandsForItsInterpreter) {
  const std::string path = program("pie", "-fPIE -pie");
  if (path.empty()) GTEST_SKIP() << "no C compiler";
  const std::string script = file("script", "#! " + path + "  -x -y \nrest\n");
  Result<Command> command = judge(script);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->shown, path);
  EXPECT_EQ(command->arguments, (std::vector<std::string>{path, "-x -y", script, "one"}));

  setenv("PATH", (folder.string() + ":" + std::getenv("PATH")).c_str(), 1);
  const std::string by_env = file("by-env", "#!/usr/bin/env pie\n");
  command = judge(by_env);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->file, fs::canonical(path));
  EXPECT_EQ(command->arguments, (std::vector<std::string>{"pie", by_env, "one"}));

  refused(file("env-s", "#!/usr/bin/env -S pie -x\n"), "more than a program");
  refused(file("no-such", "#!/usr/bin/env no-such-program-here\n"), "not in PATH");
  refused(file("nothing", "#!\n"), "names no interpreter");
  if (const std::string fixed = program("nopie", "-fno-pie -no-pie"); !fixed.empty()) {
    refused(file("fixed-script", "#!" + fixed + "\n"), "is a script for " + fixed + ", which is not position-indep");
  }
}

TEST_F(Fit, ScriptsOfScriptsEnd) {
  const std::string self = folder / "self";
  file("self", "#!" + self + "\n");
  refused(self, "too many times");
}

TEST_F(Fit, LimitsOfMemoryAreAReason) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs more addresses than the limit leaves";
#endif
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1UL << 34U, 1UL << 34U};
    setrlimit(RLIMIT_AS, &limit);
    _exit(fit_limits() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fit_limits());
}

}  // namespace
}  // namespace urakata::space
