// How kernels are divided into what threads share.
#include <catch2/catch_test_macros.hpp>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/stages.h"

namespace recut {
namespace {

loop::Kernel stages_kernel_of(const std::string& body) {
  const auto kernels = loop::parse_kernels(
      "kernel \"k\" {\nbuffer %x : f32[64] written\nbuffer %y : f32[2] updated\n" + body + "}\n",
      "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  return kernels->front();
}

const std::string kLoop =
    "parallel %i in 0..64 lanes 8 {\n%v : f32 = constant 2\nstore %x[%i], %v\n}\n";

// Attention ends with stores of single numbers: its loop is shared among threads all the same.
TEST_CASE("stages: single stores between loops are a stage of their own", "[codegen]") {
  const loop::Kernel kernel =
      stages_kernel_of("%a : f32 = constant 1\nstore %y[0], %a\n" + kLoop +
                       "%b : f32 = constant 3\nstore %y[0], %b\nstore %y[1], %a\n");
  const auto stages = loop::stages_of(kernel);
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].loop == nullptr);
  CHECK(stages[0].shared.size() == 2);
  REQUIRE(stages[1].loop != nullptr);
  CHECK(loop::stage_of(kernel, stages[1]).parallel);
  CHECK(stages[1].shared.size() == 1);
  CHECK(stages[2].loop == nullptr);
  CHECK(stages[2].shared.size() == 4);  // both definitions and both stores
}

TEST_CASE("stages: what reads what was written stays in one piece", "[codegen]") {
  const auto stages =
      loop::stages_of(stages_kernel_of(kLoop + "%a : f32 = load %y[0]\nstore %y[1], %a\n"));
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].loop == nullptr);
}

// A core's vectors have eight lanes or so: what is left is what it goes through.
TEST_CASE("stages: work counts statements of all iterations, lanes abreast", "[codegen]") {
  const auto work = [](const std::string& body) {
    const loop::Kernel kernel = stages_kernel_of(body);
    return loop::stage_of(kernel, loop::stages_of(kernel).back()).work;
  };
  CHECK(work(kLoop) == 8 * 2);
  CHECK(work("parallel %i in 0..64 {\n%v : f32 = constant 2\nstore %x[%i], %v\n}\n") == 64 * 2);
  CHECK(work("parallel %i in 0..64 lanes 64 {\n%v : f32 = constant 2\nstore %x[%i], %v\n}\n") ==
        8 * 2);
  CHECK(work("parallel %i in 0..8 {\n%v : f32 = constant 2\nfor %j in 0..8 {\n"
             "store %x[8*%i + %j], %v\n}\n}\n") == 8 * (1 + 8));
}

}  // namespace
}  // namespace recut
