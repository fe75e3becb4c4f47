// Numbers of symbolic expressions, as sympy prints them with PyTorch's functions.
#include "engine/input/symbols.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace recut {
namespace {

Symbols symbols_of_test(Dimensions given = {}) {
  return Symbols({{"s48", {512, 2, std::nullopt}},
                  {"s58", {4, 2, 1024}},
                  {"s94", {512, 2, std::nullopt}},
                  {"u0", {std::nullopt, 0, std::nullopt}}},
                 std::move(given));
}

std::string fault_of(const std::string& expression) {
  const Symbols symbols = symbols_of_test();
  const auto number = symbols.number_of(expression);
  return number ? "none" : number.diagnostics().front().message;
}

TEST_CASE("symbols: whole numbers as Python has them", "[input]") {
  const Symbols symbols = symbols_of_test({{"u0", 7}});
  for (const auto& [expression, expected] : std::initializer_list<std::pair<const char*, int>>{
           {"12", 12},
           {"s48", 512},
           {"8*s48", 4096},
           {"s48*s58", 2048},
           {"2 + 3*4 - 1", 13},
           {"(2 + 3)*4", 20},
           {"-s58", -4},
           {"-2**2", -4},
           {"2**3**2", 512},
           {"(-1)**1000000000000", 1},
           {"(-1)**1000000000001", -1},
           {"(-1)**(-9223372036854775807 - 1)", 1},
           {"(-1)**(-9223372036854775807)", -1},
           {"0**0", 1},
           {"-7//2", -4},
           {"7//-2", -4},
           {"-7 % 3", 2},
           {"s48/2", 256},
           {"FloorDiv(s48, 3)", 170},
           {"FloorDiv(-7, 2)", -4},
           {"CeilDiv(7, 2)", 4},
           {"CleanDiv(s48, 4)", 128},
           {"Mod(-7, 3)", 2},
           {"PythonMod(s48, 10)", 2},
           {"ModularIndexing(s48, 10, 7)", 2},
           {"8*Max(1, 32*CeilToInt(IntTrueDiv(s48, 32)))", 4096},
           {"32*CeilToInt(IntTrueDiv(u0, 32))", 32},
           {"Min(3, u0, 5)", 3},
           {"PowByNatural(u0, 2)", 49},
           {"TruncToInt(-2.5)", -2},
           {"FloorToInt(-2.5)", -3},
           {"RoundToInt(2.5)", 2},
           {"Abs(-3)", 3},
           {"Identity(s58)", 4}}) {
    CAPTURE(expression);
    const auto size = symbols.size_of(expression);
    if (!size) FAIL(format(size.diagnostics()));
    CHECK(*size == expected);
  }
}

TEST_CASE("symbols: real numbers are those of SymFloat", "[input]") {
  const Symbols symbols = symbols_of_test();
  const auto real = [&](const char* expression) {
    return std::get<double>(*symbols.number_of(expression));
  };
  CHECK(real("IntTrueDiv(s48, 1024)") == 0.5);
  CHECK(real("(IntTrueDiv(s48, 64)) - 1.0") == 7);
  CHECK(real("FloatTrueDiv(IntTrueDiv(s48, 64), (IntTrueDiv(s48, 64)) - 1.0)") == 8.0 / 7);
  CHECK(real("s58/3") == 4.0 / 3);
  CHECK(real("ToFloat(s58)") == 4);
  CHECK(real("1.5e2") == 150);
  CHECK(real("FloatPow(2.0, -1)") == 0.5);
  CHECK(real("OpaqueUnaryFn_sqrt(FloatTrueDiv(s58, 1))") == 2);
  CHECK(symbols.size_of("IntTrueDiv(s48, 64)").value() == 8);
  CHECK_FALSE(symbols.size_of("IntTrueDiv(s58, 3)").ok());
}

TEST_CASE("symbols: one of a SymFloat has its traced value", "[input]") {
  const Symbols symbols({{"zf3", {{}, {}, {}, 0.25}}, {"s1", {3, 2, {}, {}}}}, {});
  CHECK(std::get<double>(*symbols.number_of("OpaqueUnaryFn_sqrt(zf3)*s1")) == 1.5);
  CHECK(symbols.used().size() == 1);  // of sizes
}

TEST_CASE("symbols: what has no number is told with its place", "[input]") {
  CHECK(fault_of("s5") == "the size 's5': the symbol s5 has no hint: give it a size by --dim s5=N");
  CHECK(fault_of("2*u0").find("--dim u0=N") != std::string::npos);
  CHECK(fault_of("s48//0") == "the size 's48//0': a divisor is 0");
  CHECK(fault_of("Mod(1, 0)").find("a divisor is 0") != std::string::npos);
  CHECK(fault_of("(1").find("the end found, expected ')'") != std::string::npos);
  CHECK(fault_of("1 2").find("'2' found, expected an operator") != std::string::npos);
  CHECK(fault_of("").find("expected a number or a symbol") != std::string::npos);
  CHECK(fault_of("*2").find("expected a number or a symbol") != std::string::npos);
  CHECK(fault_of("cbrt(2)").find("'cbrt' is no function") != std::string::npos);
  CHECK(fault_of("Mod(2)").find("Mod takes 2 operands, found 1") != std::string::npos);
  CHECK(fault_of("Max()").find("expected a number or a symbol") != std::string::npos);
  for (const char* large : {"9223372036854775807 + 1", "99999999999999999999", "10**30",
                            "2**(-9223372036854775807 - 1)", "(1/2)**64", "9223372036854775807*2",
                            "CeilToInt(1e300)", "-9223372036854775807 - 2"})
    CHECK(fault_of(large).find("doesn't fit into 64 bits") != std::string::npos);
  CHECK(fault_of(std::string(1000, '(')).find("nested deeper than 64") != std::string::npos);
  CHECK(fault_of(std::string(1000, '-')).find("nested deeper than 64") != std::string::npos);
  CHECK(fault_of(std::string(5000, '1')).find("expected at most 4096") != std::string::npos);
}

TEST_CASE("symbols: given sizes are of symbols, within their ranges", "[input]") {
  CHECK(symbols_of_test({{"s48", 2}, {"u0", 0}}).check().ok());
  CHECK(symbols_of_test({{"s58", 1024}}).check().ok());
  const auto fault = [](Dimensions given) {
    const auto checked = symbols_of_test(std::move(given)).check();
    return checked ? "none" : checked.diagnostics().front().message;
  };
  CHECK(fault({{"s48", 1}}) == "--dim s48=1: the graph was traced for s48 from 2 to any size");
  CHECK(fault({{"s58", 1025}}) == "--dim s58=1025: the graph was traced for s58 from 2 to 1024");
  const auto ranges = Symbols({{"s1", {9, 10, 20}}}, {}).check();
  CHECK(ranges.diagnostics().front().message ==
        "the hint of s1 is 9, outside its range from 10 to 20");
  CHECK_FALSE(Symbols({{"s1", {9, 10, 3}}}, {}).check().ok());
}

TEST_CASE("symbols: a given size is of a symbol that sizes are made of", "[input]") {
  const Symbols symbols = symbols_of_test({{"s94", 4}});
  CHECK(symbols.check_used().diagnostics().front().message ==
        "--dim s94: the sizes of this graph are all fixed");
  REQUIRE(symbols.size_of("s48*s58").ok());
  CHECK(symbols.check_used().diagnostics().front().message ==
        "--dim s94: no size of this graph has that symbol; found: s48, s58");
  REQUIRE(symbols.size_of("s94").ok());
  CHECK(symbols.check_used().ok());
  // One that the file doesn't list is bound all the same.
  const Symbols unlisted({}, {{"s5", 7}});
  CHECK(unlisted.size_of("2*s5").value() == 14);
  CHECK(unlisted.check_used().ok());
}

TEST_CASE("symbols: quotients are exact", "[input]") {
  const Symbols symbols(
      {}, {{"s5", 22}, {"s7", 8}, {"s9", 20}, {"s1", 3}, {"s2", 5}, {"s3", 30}, {"s4", 42}});
  CHECK(symbols.size_of("-((s5**2)/(s5/s9))//(-(Max(4, 10)))").value() == 44);
  CHECK(symbols.size_of("Max(-(7**2), (Max(s3, s4))/(s4/s3))").value() == 30);
  CHECK(symbols.size_of("s1/2 + s2/2").value() == 4);
  CHECK(symbols.size_of("(s2/14)*28").value() == 10);
  CHECK(symbols.size_of("2**(-1)*4").value() == 2);
  CHECK(symbols.size_of("Max(9007199254740992, 9007199254740993) - 9007199254740990").value() == 3);
  CHECK(symbols.size_of("CeilToInt(IntTrueDiv(9007199254740993, 1))").value() == 9007199254740993);
  CHECK(symbols.size_of("floor(-7/2)").value() == -4);
  CHECK(symbols.size_of("ceiling(-7/2)").value() == -3);
  CHECK_FALSE(symbols.number_of("1e308*10").ok());
  CHECK_FALSE(symbols.number_of("0**-1").ok());
}

TEST_CASE("symbols: those that were met are told, and sizes that may be one", "[input]") {
  const Symbols symbols = symbols_of_test({{"s48", 64}});
  REQUIRE(symbols.size_of("s48*s58").ok());
  const std::vector<BoundSymbol> used = symbols.used();
  REQUIRE(used.size() == 2);
  CHECK((used[0].name == "s48" && used[0].size == 64 && used[0].given));
  CHECK((used[1].name == "s58" && used[1].size == 4 && !used[1].given));
  CHECK(hints_text(used) == "s58=4");
  CHECK(symbols.equal_hints_text().empty());  // s94 is in no size
  REQUIRE(symbols.size_of("s94").ok());
  CHECK(symbols.equal_hints_text() ==
        "s48 is 64, and s94 has the hint 512 as it had: where they are one size, give it to all of "
        "them: --dim s48=64 --dim s94=64");
  CHECK(symbols_of_test().equal_hints_text().empty());
}

}  // namespace
}  // namespace recut
