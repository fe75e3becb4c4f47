// The loop form as text: what is printed is read again as the same, and faults have places.
#include <catch2/catch_test_macros.hpp>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"

namespace recut::loop {
namespace {

constexpr std::string_view kEveryForm = R"(kernel "every form" {
  note "%sum_1 = \"quoted\""
  buffer %x : bf16[1024] read
  buffer %places : i32[8] read
  buffer %"odd name" : f32[8] written
  buffer %counts : i64[50] updated
  buffer %room : f64[16] scratch
  %zero : f32 = constant 0
  %one : i64 = constant 1
  %yes : bool = constant true
  %far : f64 = constant -inf
  parallel %i in 0..8 {
    %row : f32 = accumulator add from %zero lanes 8
    for %j in 0..128 lanes 8 {
      %0 : f32 = load %x[128*%i + %j]
      %1 : f32 = load %x[div(%i, 2) + 7*mod(%j + -3, 9)] where %yes
      %2 : f32 = mul %0, %1
      %3 : f32 = narrow bf16 %2
      update %row, %3
      update %row, %0 * %3
    }
    %4 : f32 = read %row
    store %"odd name"[%i], %4
  }
  for %k in 0..8 {
    %5 : i32 = load %places[%k]
    %6 : i64 = convert %5
    %7 : i64 = check %6 in 0..50
    %8 : bool = lt %6, %one
    if %8 {
      store add %counts[%7], %one
    }
    %9 : i64 = index 2*%k + 1
    %10 : i64 = random_bits %one, %one, %9
  }
}
)";

std::string faults_loop_text(const std::string& body) {
  const auto kernels = parse_kernels("kernel \"k\" {\n" + body + "\n}\n", "k.loop");
  return kernels ? "" : format(kernels.diagnostics());
}

TEST_CASE("parse then print of loops is the identity", "[codegen]") {
  const auto kernels = parse_kernels(kEveryForm, "every.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  REQUIRE(kernels->size() == 1);
  CHECK(print(kernels->front()) == kEveryForm);
}

TEST_CASE("a file holds several kernels", "[codegen]") {
  const std::string twice = std::string(kEveryForm) + "\n; between\n" + std::string(kEveryForm);
  const auto kernels = parse_kernels(twice, "twice.loop");
  REQUIRE(kernels.ok());
  REQUIRE(kernels->size() == 2);
  CHECK(print((*kernels)[1]) == kEveryForm);
}

TEST_CASE("names that are taken are made distinct", "[codegen]") {
  Kernel kernel;
  kernel.buffers = {{"x", DType::f32, 4, Access::read}, {"x", DType::f32, 4, Access::write}};
  kernel.loops = {{"", 4}};
  kernel.values = {{"", DType::f32}};
  kernel.body.push_back({Loop{LoopId(0), false, 1, {}}});
  auto& body = std::get<Loop>(kernel.body.front().value).body;
  body.push_back({Define{ValueId(0), Load{BufferId(0), LoopId(0), {}}}});
  body.push_back({Store{BufferId(1), LoopId(0), ValueId(0), {}}});
  const std::string text = print(kernel);
  CHECK(text ==
        "kernel \"\" {\n  buffer %x : f32[4] read\n  buffer %x_1 : f32[4] written\n"
        "  for %0 in 0..4 {\n    %1 : f32 = load %x[%0]\n    store %x_1[%0], %1\n  }\n}\n");
  const auto again = parse_kernels(text, "again.loop");
  REQUIRE(again.ok());
  CHECK(print(again->front()) == text);
}

TEST_CASE("indices are read into their canonical form", "[codegen]") {
  const auto kernels = parse_kernels(
      "kernel \"k\" {\n for %i in 0..4 {\n %a : i64 = index 3 + %i + 2*%i + -3\n"
      " %b : i64 = index %a + %i + -1*%a + 2*div(%i + 1, 2)\n }\n}",
      "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  const std::string text = print(kernels->front());
  CHECK(text.find("%a : i64 = index 3*%i\n") != std::string::npos);
  CHECK(text.find("%b : i64 = index %i + 2*div(%i + 1, 2)\n") != std::string::npos);
}

TEST_CASE("faults in loops have places", "[codegen]") {
  CHECK(faults_loop_text("%a : f32 = constant x") ==
        "k.loop:2:21: error: expected a number, found 'x'\n");
  CHECK(faults_loop_text("%a : i64 = constant 1.5") ==
        "k.loop:2:21: error: '1.5' is no constant of type i64\n");
  CHECK(faults_loop_text("%a : f23 = constant 1") ==
        "k.loop:2:6: error: expected a dtype, found 'f23'\n");
  CHECK(faults_loop_text("%a : f32 = adds %b") == "k.loop:2:12: error: unknown operator 'adds'\n");
  CHECK(faults_loop_text("%a : f32 = neg %b") ==
        "k.loop:2:16: error: %b is not defined before this line\n");
  CHECK(faults_loop_text("%a : f32 = constant 1\n%a : f32 = constant 2") ==
        "k.loop:3:1: error: %a is defined twice\n");
  CHECK(faults_loop_text("%a : f32 = constant 1\nstore %a[0], %a") ==
        "k.loop:3:7: error: expected a buffer, but %a is a value\n");
  CHECK(faults_loop_text("for %i in 4 {\n}") ==
        "k.loop:2:11: error: expected a range 0..n, found '4'\n");
  CHECK(faults_loop_text("for %i in 0..4 lanes 0 {\n}") ==
        "k.loop:2:22: error: expected 1 to 1125899906842624, found 0\n");
  CHECK(faults_loop_text("buffer %x : f32[4] mine") ==
        "k.loop:2:20: error: expected 'read', found 'mine'\n");
  CHECK(faults_loop_text("%a : i64 = index div(3, 0)") ==
        "k.loop:2:25: error: an index is divided by a positive number\n");
  CHECK(faults_loop_text("%a : f32 = constant 1\nbuffer %x : f32[4] read") ==
        "k.loop:3:1: error: notes and buffers stand before a kernel's statements\n");
  CHECK(faults_loop_text("for %i in 0..4 {") ==
        "k.loop:4:1: error: expected '}' at the end of a block, found the end of the file\n");
}

TEST_CASE("what uses a faulty definition is no fault of its own", "[codegen]") {
  CHECK(faults_loop_text("%a : f32 = nope\n%b : f32 = neg %a\n%c : f32 = nope %b") ==
        "k.loop:2:12: error: unknown operator 'nope'\n"
        "k.loop:4:12: error: unknown operator 'nope'\n");
}

TEST_CASE("nests and sums of hostile texts are bounded", "[codegen]") {
  std::string loops;
  for (int i = 0; i < 200; ++i) loops += "for %i" + std::to_string(i) + " in 0..2 {\n";
  CHECK(faults_loop_text(loops).find("blocks nested deeper than 64") != std::string::npos);
  std::string index;
  for (int i = 0; i < 200; ++i) index += "div(";
  CHECK(faults_loop_text("%a : i64 = index " + index).find("an index nested deeper than 32") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::loop
