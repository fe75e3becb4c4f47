// The C library with symbolic sizes: a graph at a given size, and the largest size that fits.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "native/c_api/recut.h"
#include "tests/native/c_text.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kSizedFile = RECUT_SOURCE_DIR "/tests/input/graphs/mlp_sym.json.gz";

struct SizedText {
  recut_status status = RECUT_INTERNAL;
  std::string text, error;
};

SizedText text_of_graph(const char* options) {
  const std::string bytes = bytes_of(kSizedFile);
  recut_graph* graph = nullptr;
  char *text = nullptr, *error = nullptr;
  SizedText given;
  given.status =
      recut_graph_read(bytes.data(), bytes.size(), "sized.json", options, &graph, &error);
  given.error = taken(error);
  if (graph != nullptr) recut_graph_text(graph, &text, nullptr);
  given.text = taken(text);
  recut_graph_free(graph);
  return given;
}

SizedText fit_of(const char* options, const recut_callbacks* callbacks = nullptr) {
  const std::string bytes = bytes_of(kSizedFile);
  char *json = nullptr, *error = nullptr;
  SizedText given;
  given.status =
      recut_fit(bytes.data(), bytes.size(), "sized.json", options, callbacks, &json, &error);
  given.text = taken(json);
  given.error = taken(error);
  return given;
}

TEST_CASE("c_api: a graph at given sizes is the command's", "[native][c_api]") {
  const SizedText sized = text_of_graph(R"({"dims": {"s17": 24}})");
  REQUIRE(sized.status == RECUT_OK);
  CHECK(sized.text == run({"show", kSizedFile, "--dim", "s17=24"}).out);
  CHECK(sized.text != text_of_graph("{}").text);
  CHECK(text_of_graph(R"({"dims": {"s17": 1}})").status == RECUT_BAD_INPUT);
  CHECK(text_of_graph(R"({"dims": {"no": 8}})").status == RECUT_BAD_INPUT);
  for (const char* wrong :
       {R"({"dims": 3})", R"({"dims": {"s17": 0}})", R"({"dims": {"s17": "8"}})"})
    CHECK(text_of_graph(wrong).status == RECUT_BAD_OPTION);
}

TEST_CASE("c_api: the largest size that fits is the command's", "[native][c_api]") {
  const SizedText found = fit_of(R"({"fit": ["s17"], "budget": "16MiB"})");
  INFO(found.error);
  REQUIRE(found.status == RECUT_OK);
  CHECK(found.text == run({"fit", kSizedFile, "--dim", "s17", "--budget", "16MiB", "--json"}).out);
  const SizedText none = fit_of(R"({"fit": ["s17"], "budget": "1KiB"})");
  CHECK(none.status == RECUT_NOT_HELD);
  CHECK(nlohmann::json::parse(none.text)["size"] == 0);
  CHECK(none.error.find("no size was found whose plan holds 1.00 KiB") != std::string::npos);
}

TEST_CASE("c_api: options of a fit that can't be", "[native][c_api]") {
  for (const char* wrong : {"{}", R"({"fit": ["s17"]})", R"({"fit": ["s17"], "budget": "50%"})",
                            R"({"budget": "1GiB"})", R"({"fit": ["batch"], "budget": "1GiB"})",
                            R"({"fit": ["s17"], "budget": "1GiB", "most": 1})",
                            R"({"fit": ["s17"], "budget": "1GiB", "most": 0})",
                            R"({"fit": ["s17"], "budget": "1GiB", "points": 2})"}) {
    INFO(wrong);
    const SizedText refused = fit_of(wrong);
    CHECK(refused.status == RECUT_BAD_OPTION);
    CHECK(!refused.error.empty());
    CHECK(refused.text.empty());
  }
  CHECK(fit_of(nullptr).status == RECUT_BAD_OPTION);
  recut_callbacks cancelling{nullptr, nullptr, [](void*) { return 1; }};
  CHECK(fit_of(R"({"fit": ["s17"], "budget": "16MiB"})", &cancelling).status == RECUT_CANCELLED);
}

}  // namespace
}  // namespace recut::native
