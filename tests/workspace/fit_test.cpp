// The largest size that fits is the one that trying every size finds.
#include "engine/workspace/fit.h"

#include <fmt/core.h>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/workspace/open_document.h"
#include "tests/paths.h"

namespace recut {
namespace {

Result<Document> open_sized(std::int64_t size) {
  OpenOptions options;
  options.sizes = {{"s17", size}};
  return open_document(RECUT_SOURCE_DIR "/tests/input/graphs/mlp_sym.json.gz", options);
}

FitRequest fit_within(std::int64_t bytes) {
  FitRequest request;
  request.min_size = 2;
  request.start = 128;
  request.planning.budget = std::to_string(bytes);
  request.open = open_sized;
  return request;
}

bool fits(std::int64_t size, std::int64_t bytes) {
  const auto document = open_sized(size);
  REQUIRE(document.ok());
  PlanningRequest request;
  request.budget = std::to_string(bytes);
  const auto planned = plan_document(*document, request);
  REQUIRE(planned.ok());
  return planned->report.holds();
}

TEST_CASE("fit: the size that is found holds, and the next one is refused", "[workspace]") {
  for (const std::int64_t bytes : {2'900'000, 64'000'000}) {
    CAPTURE(bytes);
    const auto fit = fit_size(fit_within(bytes));
    if (!fit) FAIL(format(fit.diagnostics()));
    REQUIRE(fit->size > 2);
    CHECK(fits(fit->size, bytes));
    CHECK_FALSE(fits(fit->size + 1, bytes));
    CHECK(fit->tried.at(fit->size).peak_bytes <= bytes);
    CHECK(fit->tried.at(fit->size + 1).peak_bytes > bytes);
    CHECK(fit->tried.size() < 20);
    for (const auto& [size, point] : fit->tried) CHECK(point.holds == (size <= fit->size));
  }
}

TEST_CASE("fit: trying every size finds no larger one", "[workspace]") {
  constexpr std::int64_t kBytes = 2'750'000;
  const auto fit = fit_size(fit_within(kBytes));
  REQUIRE(fit.ok());
  std::int64_t largest = 0;
  REQUIRE(fit->size < 60);
  for (std::int64_t size = 2; size <= 60; ++size)
    if (fits(size, kBytes)) largest = size;
  CHECK(fit->size == largest);
}

TEST_CASE("fit: the ends of the range, and a graph that can't be opened", "[workspace]") {
  const auto none = fit_size(fit_within(1000));
  REQUIRE(none.ok());
  CHECK(none->size == 0);
  CHECK(none->tried.count(2) == 1);
  FitRequest request = fit_within(std::int64_t{1} << 40);
  request.max_size = 300;
  const auto all = fit_size(request);
  REQUIRE(all.ok());
  CHECK(all->size == 300);
  request.open = [](std::int64_t size) -> Result<Document> {
    return size == 128 ? open_sized(size) : Result<Document>(error("no such size"));
  };
  CHECK(fit_size(request).diagnostics().front().message == "no such size");
  request = fit_within(1'000'000);
  request.planning.budget = "many";
  CHECK_FALSE(fit_size(request).ok());
}

}  // namespace
}  // namespace recut
