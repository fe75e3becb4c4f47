// Which values stand in locals, and in which: short functions before and after.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/codegen/wasm/coalesce_locals.h"
#include "engine/codegen/wasm/stackify.h"

namespace recut::wasm {
namespace {

constexpr std::size_t kLocals = 8;

Instruction plain(Op op, std::uint64_t low = 0) {
  Instruction one;
  one.op = op;
  one.low = low;
  return one;
}
Instruction get(std::uint64_t local) { return plain(Op::local_get, local); }
Instruction set(std::uint64_t local) { return plain(Op::local_set, local); }
Instruction number(std::uint64_t n) { return plain(Op::i32_const, n); }
const Instruction kLoad = plain(Op::i32_load), kStore = plain(Op::i32_store);
const Instruction kAdd = plain(Op::i32_add), kSub = plain(Op::i32_sub);
const Instruction kLoop = plain(Op::loop), kAgain = plain(Op::br_if), kIf = plain(Op::if_);
const Instruction kElse = plain(Op::else_), kEnd = plain(Op::end);

using Body = std::vector<Instruction>;

std::string text_of(const Body& body) {
  std::string text;
  for (const Instruction& one : body) {
    const OpcodeInfo& info = opcode_info(one.op);
    const bool numbered = info.immediate == Immediate::local || info.immediate == Immediate::i32;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", info.name);
    if (numbered) text += fmt::format(" {}", one.low);
  }
  return text;
}

std::string forwarded(const Body& body) { return text_of(stackify(body, kLocals)); }

TEST_CASE("WebAssembly: a value that is read where it is made stays on the stack", "[codegen]") {
  CHECK(forwarded({get(0), kLoad, set(1), get(1), get(2), kStore}) ==
        "local.get 0, i32.load, local.get 2, i32.store");
  CHECK(forwarded({get(0), kLoad, set(1), get(1), get(1), kStore}) ==
        "local.get 0, i32.load, local.tee 1, local.get 1, i32.store");
  CHECK(forwarded({get(0), kLoad, set(1), kLoop, get(1), kEnd}) ==
        "local.get 0, i32.load, local.set 1, loop, local.get 1, end");
}

TEST_CASE("WebAssembly: operands of a sum change places for the stack's sake", "[codegen]") {
  CHECK(forwarded({get(0), kLoad, set(1), get(2), get(1), kAdd}) ==
        "local.get 0, i32.load, local.get 2, i32.add");
  CHECK(forwarded({get(0), kLoad, set(1), get(2), get(1), kSub}) ==
        "local.get 0, i32.load, local.set 1, local.get 2, local.get 1, i32.sub");
}

TEST_CASE("WebAssembly: copies are read where they are from", "[codegen]") {
  CHECK(forwarded({get(0), set(1), get(2), get(1), kStore}) ==
        "local.get 2, local.get 0, i32.store");
  // Not where that is set meanwhile, or may be in another iteration.
  const Body meanwhile{get(0), set(1), number(5), set(0), get(2), get(1), kStore};
  CHECK(forwarded(meanwhile) == text_of(meanwhile));
  const Body loop{get(0), set(1), kLoop, get(2), get(1), kStore, number(5), set(0), kEnd};
  CHECK(forwarded(loop) == text_of(loop));
}

TEST_CASE("WebAssembly: what is copied is set where the copy is", "[codegen]") {
  const Body two{get(0), kLoad, set(1), get(0), kLoad, set(2), get(1), set(3), get(2), set(4)};
  CHECK(forwarded(two) == "local.get 0, i32.load, local.set 3, local.get 0, i32.load, local.set 4");
  const Body used{get(0), kLoad, set(1), get(3), get(3), kStore, get(1), set(3), get(3), kLoad};
  CHECK(forwarded(used) ==
        "local.get 0, i32.load, local.set 1, local.get 3, local.get 3, i32.store, local.get 1, "
        "local.tee 3, i32.load");
}

TEST_CASE("WebAssembly: constants that nobody reads aren't set", "[codegen]") {
  CHECK(forwarded({number(0), set(1), get(2), kLoad}) == "local.get 2, i32.load");
}

// Behind one parameter.
Function shared(Body body, std::vector<Type> locals) {
  Function function;
  function.signature.parameters = {Type::i32};
  function.locals = std::move(locals);
  function.body = std::move(body);
  coalesce_locals(function);
  return function;
}

TEST_CASE("WebAssembly: locals are shared by values one after another", "[codegen]") {
  const Function one =
      shared({number(1), set(1), get(0), get(1), kStore, number(2), set(2), get(0), get(2), kStore},
             {Type::i32, Type::i32});
  CHECK(one.locals.size() == 1);
  CHECK(text_of(one.body) ==
        "i32.const 1, local.set 1, local.get 0, local.get 1, i32.store, i32.const 2, local.set 1, "
        "local.get 0, local.get 1, i32.store");
  const Function both = shared({number(1), set(1), number(2), set(2), get(1), get(2), kStore},
                               {Type::i32, Type::i32});
  CHECK(both.locals.size() == 2);
  const Function types = shared({number(1), set(2), get(2), kLoad, set(1)}, {Type::f32, Type::i32});
  CHECK(types.locals == std::vector{Type::i32, Type::f32});
  CHECK(types.body[1].low == 1);
}

TEST_CASE("WebAssembly: what a loop needs again isn't shared inside of it", "[codegen]") {
  // 1 is from before the loop; 2 is made anew in each iteration, and 3 behind its last use.
  const Function loop = shared({number(1), set(1), kLoop, get(0), get(1), kStore, number(2), set(2),
                                get(0), get(2), kStore, number(3), set(3), get(3), kAgain, kEnd},
                               {Type::i32, Type::i32, Type::i32});
  CHECK(loop.locals.size() == 2);
  CHECK(loop.body[7].low == 2);
  CHECK(loop.body[12].low == 2);
}

TEST_CASE("WebAssembly: what one arm of an if makes isn't shared", "[codegen]") {
  // 1 is read behind the arms: where the other one was taken, it is what it was before.
  const Function arms = shared({get(0), kIf, number(1), set(1), kElse, number(2), set(2), get(0),
                                get(2), kStore, kEnd, get(0), get(1), kStore},
                               {Type::i32, Type::i32});
  CHECK(arms.locals.size() == 2);
  const Function inside = shared({get(0), kIf, number(1), set(1), get(0), get(1), kStore, kElse,
                                  number(2), set(2), get(0), get(2), kStore, kEnd},
                                 {Type::i32, Type::i32});
  CHECK(inside.locals.size() == 1);
}

}  // namespace
}  // namespace recut::wasm
