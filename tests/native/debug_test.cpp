// recut debug, and the bundles that failed checks leave.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/input/safetensors.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut::native {
namespace {

namespace fs = std::filesystem;

std::string in_samples(const std::string& name) { return RECUT_SOURCE_DIR "/samples/" + name; }

// The exit code and the output of a shell command in a bundle, with this build's recut.
Ran in_bundle(const std::string& folder, const std::string& command) {
  const std::string out = folder + "/shell.txt";
  const std::string line =
      "cd '" + folder + "' && RECUT='" RECUT_BINARY_DIR "/recut' " + command + " > shell.txt 2>&1";
  const int status = std::system(line.c_str());
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, bytes_of(out), ""};
  fs::remove(out);
  return ran;
}

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[fs::relative(entry.path(), folder).string()] = bytes_of(entry.path().string());
  return files;
}

// "result loss: 1 elements, norm 2.5e-01" as the driver prints it.
std::map<std::string, double> norms_of(const std::string& text) {
  std::map<std::string, double> norms;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": "), norm = line.find("norm ");
    if (norm != std::string::npos)
      norms[line.substr(0, colon)] = std::strtod(line.c_str() + norm + 5, nullptr);
  }
  return norms;
}

TEST_CASE("debug: a folder that runs again, without paths and without data", "[native][cpu]") {
  const test::TemporaryFolder folder;
  const std::string bundle = folder.path() + "/it's a bundle";
  const Ran ran =
      run({"debug", in_samples("recompute.recut"), "--budget", "75%", "--seed", "3", "-o", bundle});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  CHECK(ran.out.find("runs it again") != std::string::npos);
  const auto files = files_of(bundle);
  for (const char* name :
       {"README.md", "graph.recut", "passes/00-input.recut", "plan.json", "plan.txt",
        "schedule.json", "schedule.txt", "code/step.loop", "code/step.ll", "code/step.wat",
        "code/step.cu", "run.sh", "holds.sh", "minimize.sh", "driver.sh", "driver.c", "run.py"}) {
    INFO(name);
    REQUIRE(files.count(name) == 1);
    CHECK_FALSE(files.at(name).empty());
  }
  CHECK(files.count("inputs.safetensors") == 0);
  for (const auto& [name, bytes] : files) {
    INFO(name);
    CHECK(bytes.find(RECUT_SOURCE_DIR) == std::string::npos);
    CHECK(bytes.find(folder.path()) == std::string::npos);
  }
  const std::string again = folder.path() + "/moved";
  fs::rename(bundle, again);
  const Ran step = in_bundle(again, "sh run.sh");
  INFO(step.out);
  CHECK(step.code == kDone);
  CHECK(step.out.find("agree with the interpreter's") != std::string::npos);
  CHECK(in_bundle(again, "sh holds.sh graph.recut").code == 0);
}

TEST_CASE("debug: the C program computes the outputs that run does", "[native][cpu]") {
  if (std::system("cc --version > /dev/null 2>&1") != 0) SKIP("no C compiler");
  for (const bool data : {false, true}) {
    const test::TemporaryFolder folder;
    std::vector<std::string> words = {
        "debug", sample("tiny_conv.json.gz"), "--seed", "5", "-o", folder.path()};
    if (data)
      words.insert(words.end(), {"--with-data", "--tensors", sample("tiny_conv.safetensors")});
    REQUIRE(run(words).code == kDone);
    const Ran driver = in_bundle(folder.path(), "sh driver.sh");
    INFO(driver.out);
    REQUIRE(driver.code == 0);
    REQUIRE(in_bundle(folder.path(), "sh run.sh --out-tensors outputs.safetensors").code == kDone);
    const std::string bytes = bytes_of(folder.path() + "/outputs.safetensors");
    const auto outputs = parse_safetensors(bytes, "outputs");
    REQUIRE(outputs.ok());
    // Norms of f32 outputs, whatever their order.
    std::vector<double> expected, found;
    for (const NamedTensor& tensor : *outputs) {
      if (tensor.dtype != DType::f32) continue;
      double squares = 0;
      for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, tensor.bytes.data() + at, sizeof value);
        squares += double{value} * value;
      }
      expected.push_back(std::sqrt(squares));
    }
    for (const auto& [name, norm] : norms_of(driver.out)) found.push_back(norm);
    REQUIRE(found.size() >= expected.size());
    for (const double norm : expected)
      CHECK(std::any_of(found.begin(), found.end(), [&](double other) {
        return std::abs(other - norm) <= 1e-4 * norm + 1e-6;
      }));
  }
}

TEST_CASE("debug: the Python file compiles", "[native][cpu]") {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) SKIP("no python3");
  for (const std::string& file :
       {in_samples("attention.recut"), in_samples("dropout.recut"), sample("tiny_lstm.json.gz"),
        sample("tiny_ops.json.gz"), sample("gpt2.json.gz")}) {
    INFO(file);
    const test::TemporaryFolder folder;
    REQUIRE(run({"debug", file, "-o", folder.path()}).code == kDone);
    CHECK(in_bundle(folder.path(), "python3 -B -m py_compile run.py").code == 0);
  }
}

TEST_CASE("debug: JSON names the files", "[native][cpu]") {
  const test::TemporaryFolder folder;
  const Ran ran = run({"debug", in_samples("mlp.recut"), "-o", folder.path(), "--json"});
  REQUIRE(ran.code == kDone);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["files"].size() == files_of(folder.path()).size());
  CHECK(json["notes"].empty());
}

TEST_CASE("debug: a failed check of eval says what to type, and leaves its bundle", "[native]") {
  const test::TemporaryFolder folder;
  const std::string wrong = folder.path() + "/wrong.safetensors";
  const std::string mlp = sample("tiny_mlp.json.gz");
  REQUIRE(run({"eval", mlp, "--seed", "1", "--out", wrong}).code == kDone);
  const std::vector<std::string> check = {"eval",      mlp,   "--seed", "2",
                                          "--tensors", wrong, "--check"};
  const Ran told = run(check);
  CHECK(told.code == kCheckFailed);
  CHECK(told.err.find("next: recut eval " + mlp + " --seed 2 --tensors " + wrong +
                      " --check --debug-dir debug\n") != std::string::npos);
  for (const bool data : {false, true}) {
    const std::string bundle = folder.path() + (data ? "/data" : "/bundle");
    std::vector<std::string> words = check;
    words.insert(words.end(), {"--debug-dir", bundle});
    if (data) words.emplace_back("--debug-data");
    const Ran left = run(words);
    CHECK(left.code == kCheckFailed);
    CHECK(left.out.find("DIFFERS") != std::string::npos);
    CHECK(left.err.find("sh " + bundle + "/run.sh") != std::string::npos);
    CHECK(bytes_of(bundle + "/README.md").find("DIFFERS") != std::string::npos);
    CHECK(fs::exists(bundle + "/inputs.safetensors") == data);
    CHECK(in_bundle(bundle, "sh run.sh").code == (data ? kCheckFailed : kBadInput));
    if (!data) continue;
    CHECK(in_bundle(bundle, "sh holds.sh graph.recut").code == 1);
    // The small graph has its inputs beside it.
    CHECK(in_bundle(bundle, "sh minimize.sh").code == kDone);
    CHECK(in_bundle(bundle, "sh holds.sh small.recut small.safetensors").code == 1);
  }
}

TEST_CASE("debug: bisect leaves the good and the bad graph, and no shell command", "[native]") {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/g.recut", bundle = folder.path() + "/bundle";
  std::ofstream(file) << "graph \"g\" {\n  %x = input f32[4]\n  %a = exp(%x)\n"
                         "  %b = mul.Tensor(%a, 1)\n  results %b\n}\n";
  const std::vector<std::string> bisect = {"bisect", file, "--check", "grep -q mul.Tensor {}"};
  CHECK(run(bisect).err.find("--debug-dir debug") != std::string::npos);
  std::vector<std::string> words = bisect;
  words.insert(words.end(), {"--debug-dir", bundle});
  const Ran ran = run(words);
  CHECK(ran.code == kCheckFailed);
  CHECK(bytes_of(bundle + "/good.recut").find("mul.Tensor") != std::string::npos);
  CHECK(bytes_of(bundle + "/bad.recut").find("mul.Tensor") == std::string::npos);
  CHECK(bytes_of(bundle + "/README.md").find("noop_removal is guilty") != std::string::npos);
  for (const auto& [name, bytes] : files_of(bundle))
    CHECK(bytes.find("grep -q mul") == std::string::npos);
  std::ofstream(bundle + "/check.sh") << "grep -q mul.Tensor \"$1\"\n";
  CHECK(in_bundle(bundle, "sh run.sh").code == kCheckFailed);
  CHECK(in_bundle(bundle, "sh minimize.sh").code == kDone);
  CHECK(bytes_of(bundle + "/small.recut").find("mul.Tensor") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
