// Every scalar operator as machine code, over edge values of every type: what the interpreter says.
#include <fmt/core.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"
#include "tests/codegen/machine_code.h"

namespace recut {
namespace {

using loop::ScalarOp;
using loop::ScalarOperator;
using loop::Signature;

constexpr std::array kTypes{DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};

loop::Kernel scalar_code_kernel_of(const std::string& body) {
  const auto kernels = loop::parse_kernels("kernel \"k\" {\n" + body + "}\n", "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  const Diagnostics faults = loop::verify(kernels->front());
  if (!faults.empty()) FAIL(format(faults));
  return kernels->front();
}

std::vector<loop::Number> edges(DType type) {
  std::vector<loop::Number> numbers;
  const auto real = [&](double x) { numbers.push_back(loop::as_type(type, {x, 0})); };
  const auto whole = [&](std::int64_t x) { numbers.push_back(loop::as_type(type, {0, x})); };
  if (type == DType::boolean) {
    for (const std::int64_t x : {0, 1}) whole(x);
  } else if (is_floating(type)) {
    for (const double x :
         {0.0,   -0.0,   0.5,  -0.5,  1.0,   -1.0, 1.5,   2.5,          -2.5,   3.0,     7.25,
          100.0, -100.0, 1e-3, -1e-3, 1e-30, 1e30, -1e30, 2147483648.0, 9.3e18, -9.3e18, 1e-310})
      real(x);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double x : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
      real(x);
  } else {
    for (const std::int64_t x : {0, 1, -1, 2, 3, -3, 7, 31, 32, 63, 64, 100, -100, 1 << 20})
      whole(x);
    const bool narrow = type == DType::i32;
    whole(narrow ? INT32_MAX : INT64_MAX);
    whole(narrow ? INT32_MIN : INT64_MIN);
  }
  return numbers;
}

// All pairs of edge values, or each value where there is one operand; a choice's condition goes by
// turns.
std::string difference(const std::string& line, std::span<const DType> types, DType result,
                       bool divides, int last_places) {
  std::vector<std::vector<loop::Number>> lists;
  for (const DType type : types) lists.push_back(edges(type));
  if (divides) std::erase_if(lists.back(), [](const loop::Number& n) { return n.integer == 0; });
  std::int64_t count = 1;
  for (const auto& list : lists) count *= static_cast<std::int64_t>(list.size());
  std::string body;
  for (std::size_t i = 0; i < types.size(); ++i)
    body += fmt::format("buffer %b{} : {}[{}] read\n", i, short_name(types[i]), count);
  body += fmt::format("buffer %y : {}[{}] written\n", short_name(result), count);
  body += fmt::format("for %i in 0..{} lanes 4 {{\n", count);
  for (std::size_t i = 0; i < types.size(); ++i)
    body += fmt::format("%x{} : {} = load %b{}[%i]\n", i, short_name(types[i]), i);
  body += line + "store %y[%i], %r\n}\n";
  const loop::Kernel kernel = scalar_code_kernel_of(body);
  test::KernelMemory memory(kernel);
  for (std::int64_t at = 0; at < count; ++at) {
    std::int64_t rest = at;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto size = static_cast<std::int64_t>(lists[i].size());
      memory.set(i, at, lists[i][static_cast<std::size_t>(rest % size)]);
      rest /= size;
    }
  }
  return test::machine_code_difference(kernel, memory, last_places);
}

// exp, log, tanh and erf of f32 are series: the last place may differ where the number lies
// between two.
int last_places(ScalarOp op, DType type) {
  const bool series =
      op == ScalarOp::exp || op == ScalarOp::log || op == ScalarOp::tanh || op == ScalarOp::erf;
  return series && type == DType::f32 ? 1 : 0;
}

bool draws(Signature signature) {
  return signature == Signature::random_bits || signature == Signature::random_uniform ||
         signature == Signature::random_normal || signature == Signature::random_below ||
         signature == Signature::random_seed;
}

std::vector<DType> operand_types(const ScalarOperator& row, DType type) {
  std::vector<DType> types(row.operands(), type);
  if (row.signature == Signature::selection) types.front() = DType::boolean;
  return types;
}

// How often the operator was tried.
int try_types(const ScalarOperator& row) {
  int tried = 0;
  for (const DType type : kTypes)
    for (const DType result : kTypes) {
      const std::vector<DType> types = operand_types(row, type);
      if (loop::type_fault(row.op, types, result, DType::none)) continue;
      std::string line = fmt::format("%r : {} = {}", short_name(result), row.name);
      for (std::size_t i = 0; i < types.size(); ++i)
        line += fmt::format("{} %x{}", i > 0 ? "," : "", i);
      INFO(line << " of " << short_name(type));
      const bool divides = row.op == ScalarOp::quotient || row.op == ScalarOp::rem;
      CHECK(difference(line + "\n", types, result, divides && !is_floating(type),
                       last_places(row.op, type)) == "");
      ++tried;
    }
  return tried;
}

TEST_CASE("machine code: scalar operators over edge values", "[codegen][cpu]") {
  for (const ScalarOperator& row : loop::all_scalar_operators())
    if (!draws(row.signature) && row.signature != Signature::narrowing) CHECK(try_types(row) > 0);
}

TEST_CASE("machine code: numbers as they come back from memory", "[codegen][cpu]") {
  for (const DType type : kTypes)
    for (const DType stored :
         {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i16, DType::i8, DType::u8}) {
      const std::array types{type};
      if (loop::type_fault(ScalarOp::narrow, types, type, stored)) continue;
      const std::string line =
          fmt::format("%r : {} = narrow {} %x0\n", short_name(type), short_name(stored));
      INFO(line);
      CHECK(difference(line, types, type, false, 0) == "");
    }
}

// Many numbers of 16 bits and between them: to where each rounds.
TEST_CASE("machine code: f16 and bf16 round to nearest even", "[codegen][cpu]") {
  const loop::Kernel kernel = scalar_code_kernel_of(
      "buffer %x : f64[4096] read\nbuffer %s : f32[4096] read\n"
      "buffer %a : f64[4096] written\nbuffer %b : f64[4096] written\n"
      "buffer %h : f16[4096] written\nbuffer %g : bf16[4096] written\n"
      "for %i in 0..4096 lanes 8 {\n"
      "%v : f64 = load %x[%i]\n%n : f64 = narrow f16 %v\nstore %a[%i], %n\n"
      "%m : f64 = narrow bf16 %v\nstore %b[%i], %m\n"
      "%w : f32 = load %s[%i]\nstore %h[%i], %w\nstore %g[%i], %w\n}\n");
  test::KernelMemory memory(kernel);
  for (std::int64_t i = 0; i < 4096; ++i) {
    // Halfway between two numbers, and a little to either side of it, over the range of exponents.
    const double half = 1 + (static_cast<double>(i % 64) + 0.5) * (i % 2 == 0 ? 0x1p-10 : 0x1p-7);
    const double shift = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x1p-40 : -0x1p-40;
    const double number = std::ldexp(half + shift, static_cast<int>(i / 64 % 48) - 28);
    memory.set(0, i, {i % 5 == 0 ? -number : number, 0});
    memory.set(1, i, {static_cast<float>(number), 0});
  }
  CHECK(test::machine_code_difference(kernel, memory, 0) == "");
}

TEST_CASE("machine code: random numbers are Philox's", "[codegen][cpu]") {
  const loop::Kernel kernel = scalar_code_kernel_of(
      "buffer %u : f64[100] written\nbuffer %n : f64[100] written\nbuffer %k : i64[100] written\n"
      "%seed : i64 = seed\n%draw : i64 = constant 5000000000\n%digits : i64 = constant 24\n"
      "%bound : i64 = constant 1000000007\n"
      "parallel %i in 0..100 lanes 8 {\n%at : i64 = index %i\n"
      "%bits : i64 = random_bits %seed, %draw, %at\n"
      "%a : f64 = uniform %bits, %digits\nstore %u[%i], %a\n"
      "%b : f64 = normal %bits\nstore %n[%i], %b\n"
      "%c : i64 = below %bits, %bound\nstore %k[%i], %c\n}\n");
  test::KernelMemory left(kernel);
  CHECK(test::machine_code_difference(kernel, test::KernelMemory(kernel), 0, &left) == "");
  CHECK(left.get(2, 0).integer != left.get(2, 1).integer);
}

// The errors that engine/codegen/README.md states, in units in the last place.
TEST_CASE("machine code: exp, log, tanh and erf of f32", "[codegen][cpu]") {
  constexpr std::int64_t kCount = 1 << 16;
  const loop::Kernel kernel = scalar_code_kernel_of(fmt::format(
      "buffer %x : f32[{0}] read\nbuffer %e : f32[{0}] written\nbuffer %l : f32[{0}] written\n"
      "buffer %t : f32[{0}] written\nbuffer %f : f32[{0}] written\n"
      "for %i in 0..{0} lanes 8 {{\n%v : f32 = load %x[%i]\n"
      "%a : f32 = exp %v\nstore %e[%i], %a\n%b : f32 = log %v\nstore %l[%i], %b\n"
      "%c : f32 = tanh %v\nstore %t[%i], %c\n%d : f32 = erf %v\nstore %f[%i], %d\n}}\n",
      kCount));
  test::KernelMemory memory(kernel);
  for (std::int64_t i = 0; i < kCount; ++i) {  // all exponents, both signs
    const double mantissa = 1 + static_cast<double>(i * 2654435761 % 8388608) * 0x1p-23;
    const int exponent = static_cast<int>(i / 2 % 280) - 150;
    memory.set(0, i, {std::ldexp(i % 2 == 0 ? mantissa : -mantissa, exponent), 0});
  }
  test::KernelMemory left(kernel);
  REQUIRE(test::machine_code_difference(kernel, memory, 1, &left) == "");
  double (*const kExact[])(double) = {std::exp, std::log, std::tanh, std::erf};
  constexpr double kMost[] = {1.05, 0.51, 1.3, 1.3};
  for (std::size_t f = 0; f < 4; ++f) {
    double worst = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const double exact = kExact[f](memory.get(0, i).real), found = left.get(f + 1, i).real;
      const double size = std::fabs(exact);
      if (!(size >= std::numeric_limits<float>::min() && size < 3e38)) continue;
      const double unit = std::ldexp(1.0, std::ilogb(size) - 23);
      worst = std::max(worst, std::fabs(found - exact) / unit);
    }
    CAPTURE(f);
    CHECK(worst < kMost[f]);
  }
}

}  // namespace
}  // namespace recut
