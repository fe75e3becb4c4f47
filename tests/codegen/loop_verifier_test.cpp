// Each invariant of the loop form (engine/codegen/loop/verifier.h) is broken once.
#include <catch2/catch_test_macros.hpp>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"

namespace recut::loop {
namespace {

// What the verifier says of a kernel with some buffers and constants.
std::string faults_loop_verifier(const std::string& body) {
  const std::string head =
      "kernel \"k\" {\n"
      "buffer %x : f32[32] read\nbuffer %y : f32[32] written\nbuffer %z : f32[32] updated\n"
      "buffer %n : i64[32] read\nbuffer %h : f16[32] written\nbuffer %c : i64[32] updated\n"
      "%zero : f32 = constant 0\n%one : i64 = constant 1\n%yes : bool = constant true\n";
  const auto kernels = parse_kernels(head + body + "\n}\n", "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  std::string messages;
  for (const Diagnostic& fault : verify(kernels->front())) messages += fault.message + "\n";
  return messages;
}

TEST_CASE("sound kernels have no faults", "[codegen]") {
  CHECK(faults_loop_verifier(
            "parallel %i in 0..32 lanes 8 {\n%a : f32 = load %x[%i]\nstore %y[%i], %a\n}") == "");
  CHECK(faults_loop_verifier("%s : f32 = accumulator add from %zero lanes 8\n"
                             "for %i in 0..32 lanes 8 {\n%a : f32 = load %x[%i]\nupdate %s, %a\n}\n"
                             "%t : f32 = read %s\nstore %y[0], %t") == "");
  CHECK(faults_loop_verifier(
            "for %i in 0..32 {\n%a : i64 = load %n[%i]\n%p : i64 = check %a in 0..32\n"
            "store add %z[%p], %zero\n}") == "");
  CHECK(faults_loop_verifier("for %i in 0..0 {\nstore %y[99], %zero\n}") == "");
}

TEST_CASE("scratch belongs to the iterations of outermost loops", "[codegen]") {
  const auto with = [](const std::string& scratch, const std::string& body) {
    const auto kernels = parse_kernels("kernel \"k\" {\nbuffer %y : f32[32] written\n" + scratch +
                                           "%zero : f32 = constant 0\n" + body + "\n}\n",
                                       "k.loop");
    if (!kernels) FAIL(format(kernels.diagnostics()));
    std::string messages;
    for (const Diagnostic& fault : verify(kernels->front())) messages += fault.message + "\n";
    return messages;
  };
  const std::string room = "buffer %s : f32[4] scratch\n";
  const std::string filled = "for %j in 0..4 lanes 4 {\nstore %s[%j], %zero\n}\n";
  CHECK(with(room, "parallel %i in 0..32 {\n" + filled +
                       "%a : f32 = load %s[3]\nstore %y[%i], %a\n}") == "");
  CHECK(with(room, filled) == "store: %s is scratch, and used outside of a loop without lanes\n");
  CHECK(with(room, "store %s[0], %zero") ==
        "store: %s is scratch, and used outside of a loop without lanes\n");
  CHECK(with(room, "parallel %i in 0..32 {\nfor %j in 0..4 lanes 4 {\nstore %s[0], %zero\n}\n}") ==
        "store %s: iterations of %j store to the same element, 0\n");
  CHECK(with("buffer %s : f32[40960] scratch\n", "") == "");
  CHECK(with("buffer %s : f32[40961] scratch\n", "") ==
        "%s: an outermost loop has at most 163840 bytes of scratch\n");
  // Of each outermost loop, not of all together.
  const std::string rooms = "buffer %s : f32[30720] scratch\nbuffer %t : f32[30720] scratch\n";
  const auto fill = [](const std::string& name) { return "store %" + name + "[0], %zero\n"; };
  CHECK(with(rooms, "for %i in 0..2 {\n" + fill("s") + "}\nfor %j in 0..2 {\n" + fill("t") + "}") ==
        "");
  CHECK(with(rooms, "for %i in 0..2 {\n" + fill("s") + fill("t") + fill("t") + "}") ==
        "%t: an outermost loop has at most 163840 bytes of scratch\n");
  CHECK(
      with(room + "buffer %z : f32[4] read\n", "") ==
      "%s: scratch stands behind the other buffers\n%z: scratch stands behind the other buffers\n");
}

TEST_CASE("names of loops, values and accumulators end with their block", "[codegen]") {
  CHECK(faults_loop_verifier("for %i in 0..4 {\n%a : f32 = load %x[%i]\n}\nstore %y[0], %a") ==
        "store %y: %a is used outside of its block\n");
  CHECK(faults_loop_verifier("for %i in 0..4 {\n}\nstore %y[%i], %zero") ==
        "store %y: %i is used outside of its block\n");
  CHECK(faults_loop_verifier(
            "if %yes {\n%s : f32 = accumulator add from %zero\n}\nupdate %s, %zero") ==
        "update %s: %s is used outside of its block\n");
}

TEST_CASE("types have to fit", "[codegen]") {
  CHECK(faults_loop_verifier("%a : i64 = add %zero, %one") ==
        "%a: add takes operands of one type, found f32 and i64\n");
  CHECK(faults_loop_verifier("%a : i64 = load %x[0]") == "%a: is f32, but its type is i64\n");
  CHECK(faults_loop_verifier("%a : f16 = convert %zero") == "%a: f16 is no type of values\n");
  CHECK(faults_loop_verifier("%a : bool = not %zero") == "%a: not does not take f32\n");
  CHECK(faults_loop_verifier("%a : f32 = exp %zero, %zero") ==
        "%a: exp takes 1 operands, found 2\n");
  CHECK(faults_loop_verifier("%a : f32 = select %zero, %zero, %zero") ==
        "%a: select asks a bool, found f32\n");
  CHECK(faults_loop_verifier("%a : bool = add %yes, %yes") == "%a: add does not take bool\n");
  CHECK(faults_loop_verifier("%a : i64 = reinterpret %zero") ==
        "%a: reinterpret gives i32, found i64\n");
  CHECK(faults_loop_verifier("%a : f32 = narrow f32 %zero") ==
        "%a: f32 is not narrower than f32\n");
  CHECK(faults_loop_verifier("store %h[0], %one") == "store %h: %one has to be f32, but is i64\n");
  CHECK(faults_loop_verifier("if %one {\n}") == "if: %one has to be bool, but is i64\n");
  CHECK(faults_loop_verifier("%s : bool = accumulator add from %yes") ==
        "%s: add does not take bool\n");
  CHECK(faults_loop_verifier("%s : f32 = accumulator add from %one") ==
        "%s: %one has to be f32, but is i64\n");
  CHECK(faults_loop_verifier("%b : i32 = constant 1\n%a : f32 = load %x[%b]") ==
        "%a: %b has to be i64, but is i32\n");
}

TEST_CASE("buffers are read and written as they say", "[codegen]") {
  CHECK(faults_loop_verifier("store %x[0], %zero") == "store %x: the buffer is only read\n");
  CHECK(faults_loop_verifier("%a : f32 = load %y[0]") == "%a: %y is only written\n");
  CHECK(faults_loop_verifier("store add %y[0], %zero") ==
        "store %y: a combining store reads a write-only buffer\n");
}

TEST_CASE("places outside of buffers are found by ranges", "[codegen]") {
  CHECK(faults_loop_verifier(
            "for %i in 0..8 {\nfor %j in 0..4 {\nstore %y[5*%i + %j], %zero\n}\n}") ==
        "store %y: the index 5*%i + %j reaches 0 to 38 of 32 elements\n");
  CHECK(faults_loop_verifier("for %i in 0..8 {\n%a : f32 = load %x[%i + -1]\n}") ==
        "%a: the index %i + -1 reaches -1 to 6 of 32 elements\n");
  CHECK(faults_loop_verifier("for %i in 0..128 {\n%a : f32 = load %x[div(%i, 4)]\n%b : f32 = load "
                             "%x[mod(%i, 33)]\n}") ==
        "%b: the index mod(%i, 33) reaches 0 to 32 of 32 elements\n");
  CHECK(faults_loop_verifier("%p : i64 = load %n[0]\n%a : f32 = load %x[%p]") ==
        "%a: nothing bounds the index %p\n");
  CHECK(faults_loop_verifier(
            "%p : i64 = load %n[0]\n%q : i64 = check %p in 0..33\n%a : f32 = load %x[%q]") ==
        "%a: the index %q reaches 0 to 32 of 32 elements\n");
  // Under a condition only what can't be right is a fault.
  CHECK(faults_loop_verifier("for %i in 0..40 {\n%a : f32 = load %x[%i] where %yes\n}") == "");
  CHECK(faults_loop_verifier("for %i in 0..40 {\n%a : f32 = load %x[%i + 32] where %yes\n}") ==
        "%a: the index %i + 32 reaches 32 to 71 of 32 elements\n");
  CHECK(faults_loop_verifier("for %i in 0..40 {\nif %yes {\nstore %y[%i], %zero\n}\n}") == "");
}

TEST_CASE("accumulators and their loops have the same lanes", "[codegen]") {
  const std::string lanes8 = "%s : f32 = accumulator add from %zero lanes 8\n";
  CHECK(faults_loop_verifier(lanes8 + "for %i in 0..32 lanes 4 {\nupdate %s, %zero\n}") ==
        "update %s: the accumulator has lanes 8, its loop has lanes 4\n");
  CHECK(faults_loop_verifier(lanes8 + "for %i in 0..32 {\nupdate %s, %zero\n}") ==
        "update %s: the accumulator has lanes 8, its loop has lanes 1\n");
  CHECK(faults_loop_verifier(
            "%s : f32 = accumulator add from %zero\nfor %i in 0..32 lanes 4 {\nupdate %s, "
            "%zero\n}") == "update %s: the accumulator has lanes 1, its loop has lanes 4\n");
  CHECK(faults_loop_verifier("%s : f32 = accumulator add from %zero lanes 3") ==
        "%s: 3 lanes are no power of two up to 8192\n");
  CHECK(faults_loop_verifier("for %i in 0..8 lanes 8 {\nfor %j in 0..8 lanes 8 {\n}\n}") ==
        "%j: lanes inside of lanes\n");
  CHECK(faults_loop_verifier(
            "%s : f32 = accumulator add from %zero\nparallel %i in 0..32 {\nupdate %s, "
            "%zero\n}") == "update %s: iterations of parallel %i update one accumulator\n");
}

TEST_CASE("products are taken by sums alone", "[codegen]") {
  CHECK(faults_loop_verifier("%s : f32 = accumulator add from %zero\nupdate %s, %zero * %zero") ==
        "");
  CHECK(faults_loop_verifier("%s : f32 = accumulator max from %zero\nupdate %s, %zero * %zero") ==
        "update %s: only sums take products\n");
  CHECK(faults_loop_verifier("%s : f32 = accumulator add from %zero\nupdate %s, %zero * %one") ==
        "update %s: %one has to be f32, but is i64\n");
}

TEST_CASE("an accumulator is read after its loop", "[codegen]") {
  CHECK(faults_loop_verifier(
            "%s : f32 = accumulator add from %zero\nfor %i in 0..32 {\nupdate %s, %zero\n"
            "%t : f32 = read %s\n}") == "read %s: stands in a block that also updates it\n");
}

TEST_CASE("iterations that run at once store to places of their own", "[codegen]") {
  CHECK(faults_loop_verifier("parallel %i in 0..32 {\nstore %y[0], %zero\n}") ==
        "store %y: iterations of %i store to the same element, 0\n");
  CHECK(faults_loop_verifier("for %i in 0..32 lanes 8 {\nstore %y[3], %zero\n}") ==
        "store %y: iterations of %i store to the same element, 3\n");
  CHECK(
      faults_loop_verifier("parallel %i in 0..32 {\nfor %j in 0..4 {\nstore %y[%j], %zero\n}\n}") ==
      "store %y: iterations of %i store to the same element, %j\n");
  CHECK(faults_loop_verifier(
            "parallel %i in 0..32 {\n%a : i64 = load %n[%i]\n%p : i64 = check %a in 0..32\n"
            "store add %z[%p], %zero\n}") ==
        "store %z: iterations of %i may store to one element: its index %p is data\n");
  // Whole numbers add up in any order.
  CHECK(faults_loop_verifier(
            "parallel %i in 0..32 {\n%a : i64 = load %n[%i]\n%p : i64 = check %a in 0..32\n"
            "store add %c[%p], %one\n}") == "");
}

TEST_CASE("all faults are reported", "[codegen]") {
  CHECK(faults_loop_verifier("%a : f32 = exp %one\nstore %x[0], %one\n") ==
        "%a: exp does not take i64\nstore %x: %one has to be f32, but is i64\n"
        "store %x: the buffer is only read\n");
}

}  // namespace
}  // namespace recut::loop
