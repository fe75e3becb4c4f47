// Kept operators through the C library alone: found by metadata, called on buffers, missed with a
// reason.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "native/c_api/recut.h"
#include "tests/native/c_text.h"
#include "tests/native/cache_at.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut::native {
namespace {

struct FoundOperator {
  recut_status status = RECUT_INTERNAL;
  std::string error;
  recut_operator* found = nullptr;

  FoundOperator(const char* directory, const char* name, const char* arguments) {
    recut_operators* operators = nullptr;
    REQUIRE(recut_operators_open(directory, &operators, nullptr) == RECUT_OK);
    char* message = nullptr;
    status = recut_operator_find(operators, name, arguments, &found, &message);
    error = taken(message);
    recut_operators_free(operators);
  }
  ~FoundOperator() { recut_operator_free(found); }
  FoundOperator(const FoundOperator&) = delete;
  FoundOperator& operator=(const FoundOperator&) = delete;
};

constexpr const char* kAdd = R"({"inputs": ["f32[2, 3]{1, 2}", "f32[3]"], "set": {"alpha": 2}})";

TEST_CASE("C library: a kept operator is found and called", "[native][c_api]") {
  const test::TemporaryFolder folder;
  const test::CacheAt at(folder.path());
  REQUIRE(run({"compile-op", "aten.add.Tensor", "--inputs", "f32[2, 3]{1, 2}", "f32[3]", "--set",
               "alpha=2"})
              .code == kDone);
  for (const char* directory : {static_cast<const char*>(nullptr), folder.path().c_str()}) {
    const FoundOperator add(directory, "aten.add", kAdd);
    INFO(add.error);
    REQUIRE(add.status == RECUT_OK);
    CHECK(recut_operator_inputs(add.found) == 2);
    CHECK(recut_operator_outputs(add.found) == 1);
    CHECK(recut_operator_input_bytes(add.found, 0) == 24);
    CHECK(recut_operator_output_bytes(add.found, 0) == 24);
    CHECK(recut_operator_input_bytes(add.found, 2) == -1);
    char* json = nullptr;
    REQUIRE(recut_operator_json(add.found, &json, nullptr) == RECUT_OK);
    const auto described = nlohmann::json::parse(taken(json));
    CHECK(described["operator"] == "aten.add.Tensor");
    CHECK(described["arguments"][2]["value"] == 2);
    CHECK(described["outputs"][0]["strides"] == nlohmann::json{1, 2});
    const float columns[6] = {1, 4, 2, 5, 3, 6}, other[3] = {10, 20, 30};
    float sum[6] = {};
    const void* const inputs[] = {columns, other};
    void* const outputs[] = {sum};
    REQUIRE(recut_operator_run(add.found, inputs, outputs, 0, nullptr) == RECUT_OK);
    CHECK(std::vector<float>(sum, sum + 6) == std::vector<float>{21, 24, 42, 45, 63, 66});
    void* const unwanted[] = {nullptr};
    CHECK(recut_operator_run(add.found, inputs, unwanted, 0, nullptr) == RECUT_OK);
    const void* const missing[] = {nullptr, other};
    char* error = nullptr;
    CHECK(recut_operator_run(add.found, missing, outputs, 0, &error) == RECUT_BAD_INPUT);
    CHECK(taken(error).find("'self' is null") != std::string::npos);
  }
}

// One row of memory is both rows of the tensor: the buffer has three elements.
TEST_CASE("C library: an expanded input is read in its strides", "[native][c_api]") {
  const test::TemporaryFolder folder;
  const test::CacheAt at(folder.path());
  REQUIRE(run({"compile-op", "aten.neg", "--inputs", "f32[2, 3]{0, 1}"}).code == kDone);
  const FoundOperator neg(nullptr, "aten.neg", R"({"inputs": ["f32[2, 3]{0, 1}"]})");
  REQUIRE(neg.status == RECUT_OK);
  CHECK(recut_operator_input_bytes(neg.found, 0) == 12);
  const float row[3] = {1, 2, 3};
  float out[6] = {};
  const void* const inputs[] = {row};
  void* const outputs[] = {out};
  REQUIRE(recut_operator_run(neg.found, inputs, outputs, 0, nullptr) == RECUT_OK);
  CHECK(std::vector<float>(out, out + 6) == std::vector<float>{-1, -2, -3, -1, -2, -3});
}

TEST_CASE("C library: JSON values are arguments", "[native][c_api]") {
  const test::TemporaryFolder folder;
  const test::CacheAt at(folder.path());
  REQUIRE(run({"compile-op", "aten.clamp", "--inputs", "f32[4]", "none", "2.0"}).code == kDone);
  const auto status = [&](const char* arguments) {
    return FoundOperator(nullptr, "aten.clamp.default", arguments).status;
  };
  CHECK(status(R"({"inputs": ["f32[4]", null, 2.0]})") == RECUT_OK);
  CHECK(status(R"({"inputs": ["f32[4]"], "set": {"max": 2.0}})") == RECUT_OK);
  CHECK(status(R"({"inputs": ["f32[4]", null, 2]})") == RECUT_NOT_KEPT);
  CHECK(status(R"({"inputs": ["f32[4]", 2.0]})") == RECUT_NOT_KEPT);
  REQUIRE(run({"compile-op", "aten.sum", "--inputs", "f32[4, 5]", "[0, 1]", "true"}).code == kDone);
  CHECK(FoundOperator(nullptr, "aten.sum", R"({"inputs": ["f32[4, 5]", [0, 1], true]})").status ==
        RECUT_OK);
}

TEST_CASE("C library: operators that aren't kept, or none, are told", "[native][c_api]") {
  const test::TemporaryFolder folder;
  const test::CacheAt at(folder.path());
  const auto fault = [&](const char* name, const char* arguments, recut_status expected,
                         const std::string& reason) {
    const FoundOperator found(nullptr, name, arguments);
    CHECK(found.status == expected);
    CHECK(found.found == nullptr);
    INFO(found.error);
    CHECK(found.error.find(reason) != std::string::npos);
  };
  fault("aten.add.Tensor", kAdd, RECUT_NOT_KEPT, "no kernel of aten.add.Tensor is kept");
  REQUIRE(run({"compile-op", "aten.add.Tensor", "--inputs", "f32[2, 3]", "f32[3]"}).code == kDone);
  fault("aten.add.Tensor", kAdd, RECUT_NOT_KEPT, "self: strides [1, 2], kept [3, 1]");
  fault("aten.add.Tensor", "{\"inputs\": [\"f32[n]\", 2]}", RECUT_BAD_OPTION, "dynamic sizes");
  fault("aten.add.Tensor", "{\"input\": []}", RECUT_BAD_OPTION, "input");
  fault("aten.add.Tensor", "{\"inputs\": [{}]}", RECUT_BAD_OPTION, "an object");
  fault("aten.add.Tensor", "{\"inputs\": 3}", RECUT_BAD_OPTION, "inputs");
  fault("aten.add.Tensor", "{", RECUT_BAD_OPTION, "options");
  fault("aten.add.Tensor", nullptr, RECUT_BAD_OPTION, "is nothing, expected a tensor");
  fault(nullptr, kAdd, RECUT_BAD_OPTION, "name is null");
  fault("aten.addd", nullptr, RECUT_BAD_OPTION, "there is no operator");
}

}  // namespace
}  // namespace recut::native
