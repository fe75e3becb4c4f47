// Measured kernels: diagnostics, and the costs that plans take from them.
#include "engine/cost/measured_kernels.h"
#include "engine/cost/cost.h"
#include "engine/cost/device.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/cost/device_profile.h"
#include "engine/fusion/kernel_cost.h"
#include "engine/ir/storage_model.h"
#include "engine/workspace/cost_model.h"
#include "tests/fusion/fused_graphs.h"

namespace recut {
namespace {

// A profile of 100 bytes and 1000 operations a second, but for what is added to it.
std::string profile_with(const std::string& more) {
  return R"({"name": "mine", "title": "A device", "source": "a ruler",
  "flops_per_second": {"f32": 1000}, "bytes_per_second": 100, "launch_micros": 5,
  "sustained": {"products": 1, "memory": 1},
  )" + more +
         "}";
}

std::string error_text_measured_kernels(const std::string& more) {
  const auto profile = parse_device_profile(profile_with(more), "p.json");
  REQUIRE_FALSE(profile.ok());
  return format(profile.diagnostics().front());
}

std::string measured_with(const std::string& kernels) {
  return R"("measured": {"graph": "g", "digest": "0123456789abcdef", "kernels": [)" + kernels +
         "]}";
}

DeviceProfile profile_of(const std::string& more) {
  auto profile = parse_device_profile(profile_with(more), "p.json");
  if (!profile) FAIL(format(profile.diagnostics()));
  return std::move(*profile);
}

TEST_CASE("device: corrections and measured kernels that can't be are refused with their location",
          "[cost][measured]") {
  CHECK(error_text_measured_kernels(R"("corrections": {"products": 0})") ==
        "p.json:4:31: error: 'corrections': 'products' is 0, expected a number from 0.01 to 100");
  CHECK(error_text_measured_kernels(R"("corrections": {"speed": 1})") ==
        "p.json:4:28: error: 'corrections': unknown 'speed', expected one of: products, memory, "
        "launches");
  CHECK(error_text_measured_kernels(R"("corrections": [])")
            .find("'corrections' is a list, expected an object") != std::string::npos);
  CHECK(error_text_measured_kernels(R"("measured": {"graph": "g", "digest": "12", "kernels": []})")
            .find("'measured': 'digest' is '12', expected 16 digits from 0 to f") !=
        std::string::npos);
  CHECK(error_text_measured_kernels(R"("measured": {"graph": "g", "digest": "0123456789abcdef"})")
            .find("'kernels' is missing") != std::string::npos);
  CHECK(error_text_measured_kernels(measured_with("7")).find("'measured': a kernel is no object") !=
        std::string::npos);
  CHECK(error_text_measured_kernels(measured_with(R"({"calls": [], "us": 1})"))
            .find("'calls' is missing or") != std::string::npos);
  CHECK(error_text_measured_kernels(measured_with(R"({"calls": ["a"]})")).find("'us' is missing") !=
        std::string::npos);
  CHECK(error_text_measured_kernels(measured_with(R"({"calls": ["a"], "us": -1})"))
            .find("a kernel of 'measured': 'us' is -1, expected 0 to 1") != std::string::npos);
  CHECK(error_text_measured_kernels(
            measured_with(R"({"calls": ["a"], "us": 1, "workspace_bytes": -1})"))
            .find("'workspace_bytes' is -1, expected 0 to 1125899906842624") != std::string::npos);
  CHECK(error_text_measured_kernels(measured_with(R"({"calls": ["a"], "us": 1, "ms": 1})"))
            .find("unknown 'ms'") != std::string::npos);
}

// One kernel of exp and relu, one of mul alone, a product, and a number that is a launch.
Graph four_kernels() {
  return parse(with_product(R"(
    %a = exp(%x)
    %b = relu(%a)
    %c = mm(%b, %w)
    %n = neg(%w)
    %s = full([], 1.0)
    %e = exp(%s)
    results %c, %huge, %n, %e)"));
}

TEST_CASE("measured: what wasn't is the model's, corrected by its kind", "[cost][measured]") {
  const Graph graph = four_kernels();
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  const DeviceRates plain = profile_of("\"note\": \"\"").rates;
  DeviceRates rates =
      profile_of(R"("corrections": {"products": 2, "memory": 3, "launches": 0.5})").rates;
  rates.launch_micros = 1e6;  // as long as 100 bytes
  DeviceRates uncorrected = plain;
  uncorrected.launch_micros = 1e6;
  const auto ratio = [&](const char* name) {
    const NodeId id = graph.find(name);
    const std::int32_t group = groups.group(id);
    const auto calls =
        group == FusionGroups::kAlone ? std::span<const NodeId>(&id, 1) : groups.calls(group);
    return kernel_micros(graph, storages, groups, calls, rates) /
           kernel_micros(graph, storages, groups, calls, uncorrected);
  };
  CHECK(ratio("c") == Catch::Approx(2));
  CHECK(ratio("n") == Catch::Approx(3));
  CHECK(ratio("e") == Catch::Approx(0.5));
  CHECK(node_micros(graph, graph.find("c"), rates) ==
        Catch::Approx(2 * node_micros(graph, graph.find("c"), uncorrected)));
}

TEST_CASE("measured: kernels take the times that they took, in their own graph alone",
          "[cost][measured]") {
  const Graph graph = four_kernels();
  const std::string digest = graph_digest(graph);
  const auto measured = [&](const std::string& of) {
    return profile_of(R"("measured": {"graph": "g", "digest": ")" + of + R"(", "kernels": [
      {"calls": ["a", "b"], "us": 17}, {"calls": ["c"], "us": 40.5, "workspace_bytes": 1000}]})");
  };
  const auto costs = find_cost_model(graph, measured(digest), "", "fused");
  REQUIRE(costs.ok());
  const StorageModel storages(graph);
  const FusionGroups groups = costs->kernels(graph).groups;
  const DeviceRates& rates = costs->device.rates;
  const auto kernel = groups.calls(groups.group(graph.find("a")));
  CHECK(kernel_micros(graph, storages, groups, kernel, rates) == 17);
  const NodeId c = graph.find("c"), n = graph.find("n"), a = graph.find("a");
  CHECK(kernel_micros(graph, storages, groups, {&c, 1}, rates) == 40.5);
  CHECK(node_micros(graph, c, rates) == 40.5);
  CHECK(node_micros(graph, n, rates) > 1e6);  // not measured
  CHECK(node_micros(graph, a, rates) > 1e6);  // measured with another call only

  const auto other = find_cost_model(graph, measured("0123456789abcdef"), "", "fused");
  REQUIRE(other.ok());
  CHECK(other->device.rates.kernel_times == nullptr);
  CHECK(other->device.title == "A device; the kernels that were measured are another graph's");
  CHECK(node_micros(graph, c, other->device.rates) > 1e6);
}

TEST_CASE("measured: workspaces of kernels are the graph's, up to the most that is allowed",
          "[cost][measured]") {
  Graph graph = four_kernels();
  MeasuredGraph measured{"g", graph_digest(graph), {{{"c"}, 40, 1000}, {{"big"}, 50, 5000}}};
  const auto all = with_workspaces(measured, graph, 5000);
  REQUIRE(all.ok());
  CHECK((*all)->of(graph.find("big"))->workspace_bytes == 5000);
  CHECK_FALSE((*all)->has_times());
  const auto some = with_workspaces(measured, graph, 4999);
  REQUIRE(some.ok());
  graph.measured = *some;
  const StorageModel storages(graph);
  CHECK(storages.workspace(graph.find("c")).has_value());
  CHECK_FALSE(storages.workspace(graph.find("big")).has_value());
  CHECK(graph_digest(graph) == measured.digest);  // which measurements are no part of

  measured.kernels[0].calls = {"nobody"};
  CHECK_FALSE(with_workspaces(measured, graph, 5000).ok());
  const auto kernel_times = KernelTimes::make(measured, graph);
  REQUIRE_FALSE(kernel_times.ok());
  CHECK(kernel_times.diagnostics().front().message ==
        "the device profile has measured a call 'nobody', and the graph has none");
}

}  // namespace
}  // namespace recut
