// Device profiles: the built-in ones, diagnostics with their locations, and the resulting rates.
#include "engine/cost/device_profile.h"
#include "engine/cost/cost.h"
#include "engine/cost/device.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "engine/input/bytes.h"
#include "tests/partition/graphs.h"
#include "tests/paths.h"

namespace recut {
namespace {

const std::string kGood = R"({
  "name": "mine", "title": "A device", "source": "a ruler",
  "flops_per_second": {
    "f32": 1000, "tf32": 4e3, "bf16": 8000
  },
  "f32_uses_tf32": true,
  "bytes_per_second": 100.0,
  "launch_micros": 5,
  "sustained": {"products": 0.5, "memory": 0.25}
})";

std::string with(const std::string& part, const std::string& other) {
  std::string text = kGood;
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

// The first diagnostic of a profile, as displayed.
std::string error_text_device_profile(const std::string& text) {
  const auto profile = parse_device_profile(text, "p.json");
  REQUIRE_FALSE(profile.ok());
  return format(profile.diagnostics().front());
}

TEST_CASE("device: figures are peaks times what is sustained", "[cost]") {
  const auto profile = parse_device_profile(kGood, "p.json");
  REQUIRE(profile.ok());
  CHECK(profile->name == "mine");
  CHECK(profile->title == "A device");
  const DeviceRates& rates = profile->rates;
  CHECK(rates.flops_of(DType::f32) == 2000);  // on tf32
  CHECK(rates.flops_of(DType::bf16) == 4000);
  CHECK(rates.flops_of(DType::f16) == 500);  // not named: f32's own
  CHECK(rates.bytes_per_second == 25);
  CHECK(profile->peaks.bytes_per_second == 100);
  CHECK(profile->peaks.flops_of(DType::f32) == 4000);
  CHECK(profile->peaks.flops_of(DType::bf16) == 8000);
  CHECK(rates.launch_micros == 5);
  const auto plain = parse_device_profile(with("true", "false"), "p.json");
  REQUIRE(plain.ok());
  CHECK(plain->rates.flops_of(DType::f32) == 500);
}

TEST_CASE("device: how much longer unaligned products take, where somebody measured it", "[cost]") {
  const auto without = parse_device_profile(kGood, "p.json");
  REQUIRE(without.ok());
  CHECK(without->unaligned_slowdown == Device().unaligned_slowdown);
  CHECK(without->rates.flops_of(DType::bf16) == 4000);
  CHECK(without->rates.bytes_per_second == 25);

  const std::string slowdowns =
      R"("unaligned_slowdown": {"f32": 1.25, "tf32": 3, "bf16": 5}, "sustained")";
  const std::string text = with("\"sustained\"", slowdowns);
  const auto tf32 = parse_device_profile(text, "p.json");
  REQUIRE(tf32.ok());
  CHECK(tf32->slowdown_of(DType::f32) == 3);
  CHECK(tf32->slowdown_of(DType::bf16) == 5);
  CHECK(tf32->slowdown_of(DType::f16) == Device::kGuessedSlowdown);
  std::string plain = text;
  const auto f32 = parse_device_profile(plain.replace(plain.find("true"), 4, "false"), "p.json");
  REQUIRE(f32.ok());
  CHECK(f32->slowdown_of(DType::f32) == 1.25);

  CHECK(error_text_device_profile(
            with("\"sustained\"", R"("unaligned_slowdown": {"bf16": 0.5}, "sustained")"))
            .find("'unaligned_slowdown': 'bf16' is 0.5, expected a number from 1 to 1000") !=
        std::string::npos);
  CHECK(error_text_device_profile(
            with("\"sustained\"", R"("unaligned_slowdown": {"i8": 2}, "sustained")"))
            .find("'unaligned_slowdown': unknown 'i8'") != std::string::npos);
}

TEST_CASE("device: the link of a group's ranks", "[cost]") {
  const auto given = [](const std::string& link) {
    return with("\"sustained\"", "\"link\": " + link + ", \"sustained\"");
  };
  const auto profile =
      parse_device_profile(given(R"({"bytes_per_second": 1e9, "micros": 3})"), "p.json");
  REQUIRE(profile.ok());
  CHECK(profile->rates.link.bytes_per_second == 1e9);  // no share of it is lost
  CHECK(profile->rates.link.micros == 3);
  const auto plain = parse_device_profile(kGood, "p.json");
  REQUIRE(plain.ok());
  CHECK(plain->rates.link.bytes_per_second == DeviceRates().link.bytes_per_second);
  CHECK(error_text_device_profile(given(R"({"bytes_per_second": 0, "micros": 3})"))
            .find("'link': 'bytes_per_second' is 0, expected a number from 1") !=
        std::string::npos);
  CHECK(error_text_device_profile(given(R"({"bytes_per_second": 5})"))
            .find("'link': 'micros' is missing") != std::string::npos);
  CHECK(error_text_device_profile(given(R"({"speed": 5})")).find("'link': unknown 'speed'") !=
        std::string::npos);
}

TEST_CASE("device: faults are reported with their location", "[cost]") {
  CHECK(error_text_device_profile("[1]") ==
        "p.json:1:1: error: the file is a list, expected an object: a device profile");
  CHECK(error_text_device_profile(with("100.0", "-3")) ==
        "p.json:7:23: error: the profile: 'bytes_per_second' is -3, expected a number from 1 to "
        "1e+24");
  CHECK(error_text_device_profile(with("100.0", "\"fast\"")) ==
        "p.json:7:23: error: the profile: 'bytes_per_second' is a string, expected a number from 1 "
        "to 1e+24");
  CHECK(error_text_device_profile(with("  \"bytes_per_second\": 100.0,\n", "")) ==
        "p.json:1:1: error: the profile: 'bytes_per_second' is missing, expected a number from 1 "
        "to 1e+24");
  CHECK(error_text_device_profile(with("\"launch_micros\"", "\"launch_\\nmillis\""))
            .find("p.json:8:22: error: the profile: unknown 'launch_\\x0amillis', expected one of: "
                  "name, title") == 0);
  CHECK(error_text_device_profile(with("8000", "1e400")).find("p.json:") == 0);
  CHECK(error_text_device_profile(with("\"bf16\": 8000", "\"f32\": 1")) ==
        "p.json:4:38: error: 'flops_per_second': 'f32' stands there twice");
  CHECK(error_text_device_profile(with("\"bf16\"", "\"fp8\""))
            .find("p.json:4:38: error: 'flops_per_second': "
                  "unknown 'fp8'") == 0);
  CHECK(error_text_device_profile(with("\"tf32\": 4e3, ", "")) ==
        "p.json:3:23: error: 'flops_per_second': 'tf32' is missing, but 'f32_uses_tf32' is true");
  CHECK(error_text_device_profile(with("\"mine\"", "\"my own\""))
            .find("'name' is 'my own', expected 1 to 64") != std::string::npos);
  CHECK(error_text_device_profile(with("0.25", "1.5")) ==
        "p.json:9:44: error: 'sustained': 'memory' is 1.5, expected a number from 0.001 to 1");
  CHECK(error_text_device_profile(with("{\"products\": 0.5, \"memory\": 0.25}", "7")) ==
        "p.json:9:16: error: the profile: 'sustained' is an int, expected an object");
}

TEST_CASE("device: several faults are several diagnostics", "[cost]") {
  const auto profile = parse_device_profile("{}", "p.json");
  REQUIRE_FALSE(profile.ok());
  CHECK(profile.diagnostics().size() == 7);
}

TEST_CASE("device: no bytes crash the reader", "[cost]") {
  for (std::size_t cut = 0; cut < kGood.size(); ++cut) {
    CHECK_FALSE(parse_device_profile(kGood.substr(0, cut), "p").ok());
    for (const char c : {'\0', '"', '{', ']', '9', '-', '\xff'}) {
      std::string text = kGood;
      text[cut] = c;
      const auto profile = parse_device_profile(text, "p");
      CHECK((profile.ok() || !profile.diagnostics().empty()));
    }
  }
}

TEST_CASE("device: the built-in profiles are the samples' files", "[cost]") {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(RECUT_SOURCE_DIR "/samples/devices")) {
    const std::string path = entry.path().string();
    INFO(path);
    ++files;
    const auto by_path = find_device(path);
    INFO((by_path ? std::string() : format(by_path.diagnostics())));
    REQUIRE(by_path.ok());
    CHECK(by_path->name == entry.path().stem().string());
    CHECK_FALSE(by_path->source.empty());
    CHECK_FALSE(by_path->note.empty());
    const auto by_name = find_device(by_path->name);
    REQUIRE(by_name.ok());
    CHECK(by_name->rates.flops_per_second == by_path->rates.flops_per_second);
    CHECK(by_name->rates.bytes_per_second == by_path->rates.bytes_per_second);
    CHECK(by_name->rates.launch_micros == by_path->rates.launch_micros);
  }
  CHECK(builtin_profiles().size() == files);
}

TEST_CASE("device: the reference is the default", "[cost]") {
  const auto reference = find_device(std::string(kReferenceDevice));
  REQUIRE(reference.ok());
  CHECK(reference->rates.flops_per_second == DeviceRates().flops_per_second);
  CHECK(reference->rates.bytes_per_second == DeviceRates().bytes_per_second);
  CHECK(reference->rates.launch_micros == DeviceRates().launch_micros);
}

TEST_CASE("device: names and paths that aren't there", "[cost]") {
  const auto name = find_device("h1000");
  REQUIRE_FALSE(name.ok());
  CHECK(name.diagnostics().front().message.find("'h1000', expected one of: a100, ") !=
        std::string::npos);
  CHECK_FALSE(find_device("").ok());
  const auto path = find_device("no/such.json");
  REQUIRE_FALSE(path.ok());
  CHECK(path.diagnostics().front().file == "no/such.json");
}

TEST_CASE("device: a node's cost is its launch and the longer of computing and moving", "[cost]") {
  const Graph graph = parse(R"(graph "prices" {
    %a = input f32[100, 100]
    %b = input bf16[100, 100]
    %m = mm(%a, %a)
    %t = permute(%b, [1, 0])
    %n = mm(%b, %t)
    %e = exp(%a)
    %x = view(%a, [10000])
    results %m, %n, %e, %x
  })");
  DeviceRates rates;
  rates.flops_of(DType::f32) = 1e6;
  rates.flops_of(DType::bf16) = 4e6;
  rates.bytes_per_second = 1e9;
  rates.launch_micros = 3;
  const auto cost = [&](const char* name) { return node_micros(graph, graph.find(name), rates); };
  CHECK(cost("n") == 3 + 2e6 / 4e6 * 1e6);
  CHECK(cost("m") == 3 + 80000 / 1e9 * 1e6);  // the model counts no work of x times itself
  CHECK(cost("e") == 3 + 80000 / 1e9 * 1e6);
  CHECK(cost("x") == 0);
  CHECK(cost("t") == 0);
  CHECK(cost("a") == 0);
}

}  // namespace
}  // namespace recut
