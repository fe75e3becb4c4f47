// The meaning of the loop form, by small kernels that are read beside their results.
#include "engine/codegen/loop/interpreter.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "engine/codegen/loop/licm.h"
#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/loop/scalar_semantics.h"
#include "engine/codegen/loop/verifier.h"
#include "engine/eval/tensor.h"
#include "engine/support/philox.h"

namespace recut::loop {
namespace {

Kernel kernel_of(const std::string& body) {
  const auto kernels = parse_kernels("kernel \"k\" {\n" + body + "\n}\n", "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  const Diagnostics faults = verify(kernels->front());
  if (!faults.empty()) FAIL(format(faults));
  return kernels->front();
}

// The buffers after a run that begins with these numbers (what is missing is 0).
using Memory = std::vector<std::vector<double>>;
Memory run_kernel(const Kernel& kernel, Memory numbers, const RunOptions& options = {}) {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::span<std::byte>> spans;
  for (std::size_t b = 0; b < parameter_count(kernel); ++b) {
    const Buffer& buffer = kernel.buffers[b];
    bytes.emplace_back(static_cast<std::size_t>(buffer.elements * item_bytes(buffer.dtype)));
    for (std::size_t i = 0; b < numbers.size() && i < numbers[b].size(); ++i)
      write_element(buffer.dtype,
                    bytes[b].data() + static_cast<std::int64_t>(i) * item_bytes(buffer.dtype),
                    {numbers[b][i], static_cast<std::int64_t>(numbers[b][i])});
  }
  for (auto& b : bytes) spans.emplace_back(b);
  const auto done = run(kernel, spans, options);
  if (!done) FAIL(format(done.diagnostics()));
  Memory out;
  for (std::size_t b = 0; b < parameter_count(kernel); ++b) {
    const Buffer& buffer = kernel.buffers[b];
    out.emplace_back();
    for (std::int64_t i = 0; i < buffer.elements; ++i) {
      const Number n = read_element(buffer.dtype, bytes[b].data() + i * item_bytes(buffer.dtype));
      out.back().push_back(is_floating(buffer.dtype) ? n.real : static_cast<double>(n.integer));
    }
  }
  return out;
}

TEST_CASE("scratch is every iteration's own, and begins with nothing of use", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %x : f32[6] read\nbuffer %y : f32[6] written\nbuffer %s : f32[2] scratch\n"
      "parallel %i in 0..3 {\n"
      "%before : f32 = load %s[0]\n%none : bool = ne %before, %before\n"
      "if %none {\n"
      "for %j in 0..2 {\n%a : f32 = load %x[2*%i + %j]\nstore %s[-1*%j + 1], %a\n}\n"
      "for %k in 0..2 {\n%b : f32 = load %s[%k]\nstore %y[2*%i + %k], %b\n}\n}\n}");
  CHECK(run_kernel(kernel, {{1, 2, 3, 4, 5, 6}})[1] == std::vector<double>{2, 1, 4, 3, 6, 5});
}

TEST_CASE("partial sums in lanes are combined by halves", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %x : f32[10] read\nbuffer %y : f32[1] written\n%zero : f32 = constant 0\n"
      "%s : f32 = accumulator add from %zero lanes 4\n"
      "for %i in 0..10 lanes 4 {\n%a : f32 = load %x[%i]\nupdate %s, %a\n}\n"
      "%t : f32 = read %s\nstore %y[0], %t");
  const std::vector<double> x{1e8, 1, -1e8, 1, 3, 1, 5, 1, 7, 1};
  const auto f = [](double a, double b) { return static_cast<double>(static_cast<float>(a + b)); };
  double p[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) p[i % 4] = f(p[i % 4], x[i]);
  CHECK(run_kernel(kernel, {x})[1][0] == f(f(p[0], p[2]), f(p[1], p[3])));
}

TEST_CASE("the sum of nothing but -0 begins at the initial value", "[codegen]") {
  const auto sum_from = [](const std::string& initial) {
    return run_kernel(kernel_of("buffer %x : f32[8] read\nbuffer %y : f32[1] written\n"
                                "%z : f32 = constant " +
                                initial +
                                "\n"
                                "%s : f32 = accumulator add from %z lanes 4\n"
                                "for %i in 0..8 lanes 4 {\n%a : f32 = load %x[%i]\nupdate %s, "
                                "%a\n}\n%t : f32 = read %s\nstore %y[0], %t"),
                      {{-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0}})[1][0];
  };
  CHECK_FALSE(std::signbit(sum_from("0")));
  CHECK(std::signbit(sum_from("-0.0")));
}

TEST_CASE("loads under a condition read nothing where it is false", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %x : f32[4] read\nbuffer %y : f32[8] written\n%four : i64 = constant 4\n"
      "parallel %i in 0..8 {\n%n : i64 = index %i\n%c : bool = lt %n, %four\n"
      "%a : f32 = load %x[%i] where %c\nstore %y[%i], %a\n}");
  const auto expected = std::vector<double>{1, 2, 3, 4, 0, 0, 0, 0};
  CHECK(run_kernel(kernel, {{1, 2, 3, 4}})[1] == expected);
  CHECK(run_kernel(kernel, {{1, 2, 3, 4}}, {0, true})[1] == expected);
}

TEST_CASE("faults of the data end a run", "[codegen]") {
  const auto message = [](const std::string& body, double number) {
    const Kernel kernel = kernel_of(
        "buffer %x : i64[1] read\nbuffer %y : i64[4] written\n"
        "%a : i64 = load %x[0]\n" +
        body);
    std::int64_t x = static_cast<std::int64_t>(number), y[4] = {};
    const std::span<std::byte> memory[] = {std::as_writable_bytes(std::span(&x, 1)),
                                           std::as_writable_bytes(std::span(y))};
    const auto done = run(kernel, memory);
    return done ? "" : done.diagnostics().front().message;
  };
  CHECK(message("%p : i64 = check %a in 0..4\nstore %y[%p], %a", 3) == "");
  CHECK(message("%p : i64 = check %a in 0..4\nstore %y[%p], %a", 4) ==
        "index 4 is out of range for size 4");
  CHECK(message("%q : i64 = quotient %a, %a\nstore %y[0], %q", 0) ==
        "an integer is divided by zero");
}

TEST_CASE("scatters combine in the order of the loop", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %p : i64[4] read\nbuffer %x : f32[4] read\nbuffer %y : f32[3] updated\n"
      "for %i in 0..4 {\n%a : i64 = load %p[%i]\n%q : i64 = check %a in 0..3\n"
      "%v : f32 = load %x[%i]\nstore add %y[%q], %v\n}");
  CHECK(run_kernel(kernel, {{0, 2, 0, 0}, {1e8, 5, 1, -1e8}, {0, 1, 0}})[2] ==
        std::vector<double>{0, 1, 5});
}

TEST_CASE("a sum takes a product without rounding it first", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %x : f32[4] read\nbuffer %y : f32[1] written\nbuffer %n : i64[4] read\n"
      "buffer %m : i64[1] written\n"
      "%less : f32 = load %x[0]\n%sum : f32 = accumulator add from %less lanes 2\n"
      "%zero : i64 = constant 0\n%whole : i64 = accumulator add from %zero lanes 2\n"
      "for %i in 0..2 lanes 2 {\n%a : f32 = load %x[%i + 1]\nupdate %sum, %a * %a\n"
      "%k : i64 = load %n[%i]\nupdate %whole, %k * %k\n}\n"
      "%s : f32 = read %sum\nstore %y[0], %s\n%t : i64 = read %whole\nstore %m[0], %t");
  const double above = 1 + 0x1p-23;
  const Memory after = run_kernel(kernel, {{-1 - 0x1p-22, above, 0}, {}, {3, 5}});
  CHECK(after[1][0] == 0x1p-46);
  CHECK(after[3][0] == 34);
}

TEST_CASE("conversions have ATen's meaning on x86-64", "[codegen]") {
  const auto converted = [](DType from, DType to, Number n) {
    Number out;
    CHECK(compute({ScalarOp::convert, {}, DType::none}, from, to, std::span(&n, 1), 0, out));
    return out;
  };
  CHECK(converted(DType::f64, DType::i64, {-2.9, 0}).integer == -2);
  CHECK(converted(DType::f64, DType::i64, {std::nan(""), 0}).integer == INT64_MIN);
  CHECK(converted(DType::f32, DType::i64, {1e30, 0}).integer == INT64_MIN);
  CHECK(converted(DType::f64, DType::i32, {4294967297.0, 0}).integer == 1);
  CHECK(converted(DType::i64, DType::i32, {0, 0x180000000}).integer == INT32_MIN);
  CHECK(converted(DType::i64, DType::f32, {0, 16777217}).real == 16777216);
  CHECK(converted(DType::f32, DType::boolean, {std::nan(""), 0}).integer == 1);
  CHECK(converted(DType::f32, DType::boolean, {-0.0, 0}).integer == 0);
}

TEST_CASE("bits of one type are those of another", "[codegen]") {
  const auto reinterpreted = [](DType from, DType to, Number n) {
    Number out;
    CHECK(compute({ScalarOp::reinterpret, {}, DType::none}, from, to, std::span(&n, 1), 0, out));
    return out;
  };
  CHECK(reinterpreted(DType::f32, DType::i32, {-1, 0}).integer == -0x40800000);
  CHECK(reinterpreted(DType::f64, DType::i64, {1, 0}).integer == 0x3ff0000000000000);
  CHECK(reinterpreted(DType::i32, DType::f32, {0, 0x3fc00000}).real == 1.5);
  CHECK(reinterpreted(DType::i64, DType::f64, {0, INT64_MIN}).real == 0);
}

TEST_CASE("16 bit formats are those of the interpreter of graphs", "[codegen]") {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const auto stored = static_cast<std::uint16_t>(bits);
      std::byte memory[2];
      std::memcpy(memory, &stored, 2);
      const double x = read_element(dtype, memory).real;
      if (std::isnan(x)) continue;
      write_element(dtype, memory, {x, 0});
      std::uint16_t again;
      std::memcpy(&again, memory, 2);
      if (again != stored) FAIL(bits);
      const double next = std::nextafter(static_cast<float>(x), INFINITY);
      for (const double y :
           {x * 1.0009765625, x * 1.00390625, x + 1e-8, next, -next * 0.5, x * 4}) {
        const double found = round_trip(dtype, {y, 0}).real;
        if (!(found == round_to(dtype, y) || std::isnan(y))) FAIL(y);
      }
    }
  }
}

TEST_CASE("random numbers are those of seed, draw and element", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %u : f64[3] written\nbuffer %v : f64[3] written\n%draw : i64 = constant 7\n"
      "%digits : i64 = constant 24\nparallel %i in 0..3 {\n%n : i64 = index %i\n"
      "%s : i64 = seed\n%b : i64 = random_bits %s, %draw, %n\n%a : f64 = uniform %b, "
      "%digits\nstore %u[%i], %a\n"
      "%c : f64 = normal %b\nstore %v[%i], %c\n}");
  const auto memory = run_kernel(kernel, {}, {11, false});
  for (std::uint64_t i = 0; i < 3; ++i) {
    CHECK(memory[0][i] == random_uniform(random_words(11, 7, i), 24));
    CHECK(memory[1][i] == random_normal(random_words(11, 7, i)));
  }
}

TEST_CASE("hoisting takes out what doesn't depend on a loop", "[codegen]") {
  const Kernel kernel = kernel_of(
      "buffer %x : f32[4] read\nbuffer %y : f32[4] updated\n"
      "for %i in 0..4 {\nfor %j in 0..4 {\n%a : f32 = load %x[%i]\n%b : f32 = exp %a\n"
      "%one : f32 = constant 1\n%c : f32 = load %y[%j]\n%d : f32 = add %b, %one\n"
      "%yes : bool = constant true\nif %yes {\n%e : f32 = neg %a\nstore %y[%j], %e\n}\n"
      "store add %y[%j], %d\n}\n}");
  const Kernel hoisted = licm(kernel);
  CHECK(verify(hoisted).empty());
  CHECK(print(hoisted) ==
        "kernel \"k\" {\n  buffer %x : f32[4] read\n  buffer %y : f32[4] updated\n"
        "  %one : f32 = constant 1\n  %yes : bool = constant true\n  for %i in 0..4 {\n"
        "    %a : f32 = load %x[%i]\n    %b : f32 = exp %a\n    %d : f32 = add %b, %one\n"
        "    for %j in 0..4 {\n      %c : f32 = load %y[%j]\n      if %yes {\n"
        "        %e : f32 = neg %a\n        store %y[%j], %e\n      }\n"
        "      store add %y[%j], %d\n    }\n  }\n}\n");
  const Memory memory{{1, 2, 3, 4}, {5, 6, 7, 8}};
  CHECK(run_kernel(kernel, memory) == run_kernel(hoisted, memory));
}

}  // namespace
}  // namespace recut::loop
