// Kernels by their texts: the same order, whatever order a plan launches them in.
#include "engine/runtime/kernel_order.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/codegen/loop/printer.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/document.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "tests/paths.h"

namespace recut {
namespace {

Program program_of(const Document& document) {
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto scheduled = schedule_document(document, request);
  REQUIRE(scheduled.ok());
  auto program = recut::program_of(document, *scheduled, {.library = true});
  REQUIRE(program.ok());
  return std::move(*program);
}

std::string text_of(const Program& program, const Launch& launch) {
  return launch.library ? print(program.library[launch.kernel])
                        : print(program.kernels[launch.kernel]);
}

template <class Kernel>
std::vector<std::string> texts(const std::vector<Kernel>& kernels) {
  std::vector<std::string> all;
  for (const Kernel& kernel : strip_names(kernels)) all.push_back(print(kernel));
  return all;
}

TEST_CASE("kernels have an order that launches have no part in", "[runtime]") {
  const auto document = open_document(RECUT_SOURCE_DIR "/samples/joint/tiny_lm.json.gz", {});
  REQUIRE(document.ok());
  Program program = program_of(*document), other = program;
  REQUIRE(program.library.size() > 2);
  REQUIRE(program.kernels.size() > 2);
  // As another plan numbers them: the last first.
  std::reverse(other.kernels.begin(), other.kernels.end());
  std::reverse(other.library.begin(), other.library.end());
  for (Launch& launch : other.launches) {
    const std::size_t count = launch.library ? other.library.size() : other.kernels.size();
    launch.kernel = static_cast<std::uint32_t>(count) - 1 - launch.kernel;
  }
  std::vector<std::string> launched;
  for (const Launch& launch : program.launches) launched.push_back(text_of(program, launch));
  for (Program* one : {&program, &other}) {
    order_kernels(*one);
    for (std::size_t i = 0; i < launched.size(); ++i)
      CHECK(text_of(*one, one->launches[i]) == launched[i]);
  }
  CHECK(texts(program.kernels) == texts(other.kernels));
  CHECK(texts(program.library) == texts(other.library));
}

}  // namespace
}  // namespace recut
