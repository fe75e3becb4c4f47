// Kernels of views: every one shows the elements that its type promises.
#include "tests/eval/run_text.h"

namespace recut {
namespace {

using test::fault;
using test::run;
using test::Values;

// One call on %x, which holds 0, 1, 2, ….
Values view_of(const std::string& type, const std::string& call) {
  return run("%x = input " + type + "\n%y = " + call + "\nresults %y");
}

TEST_CASE("views show the storage") {
  const struct {
    const char *type, *call;
    Values expected;
  } kCases[] = {
      {"f32[2, 3]", "permute(%x, [1, 0])", {0, 3, 1, 4, 2, 5}},
      {"f32[2, 3]", "transpose.int(%x, 0, -1)", {0, 3, 1, 4, 2, 5}},
      {"f32[2, 3]", "t(%x)", {0, 3, 1, 4, 2, 5}},
      {"f32[2, 1, 2]", "movedim.int(%x, 0, -1)", {0, 2, 1, 3}},
      {"f32[2, 1]", "expand(%x, [2, -1, 2])", {0, 0, 1, 1, 0, 0, 1, 1}},
      {"f32[]", "expand(%x, [3])", {0, 0, 0}},
      {"f32[2]", "prims.broadcast_in_dim(%x, [2, 2], [0])", {0, 0, 1, 1}},
      {"f32[7]", "slice.Tensor(%x, 0, 1, -1, 2)", {1, 3, 5}},
      {"f32[2, 3]", "select.int(%x, 1, -1)", {2, 5}},
      {"f32[3, 4]", "diagonal(%x, 1)", {1, 6, 11}},
      {"f32[3, 4]", "diagonal(%x, -1)", {4, 9}},
      {"f32[5]", "unfold(%x, 0, 3, 2)", {0, 1, 2, 2, 3, 4}},
      {"f32[6]", "as_strided(%x, [2, 2], [1, 2], 1)", {1, 3, 2, 4}},
      {"f32[2, 0]", "view(%x, [0, 5])", {}},
      {"f32[1, 2, 1]", "squeeze(%x)", {0, 1}},
      {"f32[4]", "narrow(%x, 0, -3, 2)", {1, 2}},
      {"i64[2]", "view_copy(%x, [1, 2])", {0, 1}},
      {"u8[4]", "view.dtype(%x, i32)", {0x03020100}},
      {"i32[1]", "view.dtype(%x, u8)", {0, 0, 0, 0}},
      {"f32[2]", "view.dtype(%x, i32)", {0, 0x3f800000}},
  };
  for (const auto& c : kCases) {
    INFO(c.call);
    CHECK(view_of(c.type, c.call) == c.expected);
  }
}

TEST_CASE("views of views keep their strides") {
  CHECK(run("%x = input f32[2, 3]\n%t = t(%x)\n%s = slice.Tensor(%t, 0, 1)\n"
            "%v = view(%s, [4])\nresults %v") == Values{1, 4, 2, 5});
  CHECK(run("%x = input f32[2, 3, 4]\n%a = select.int(%x, 1, 2)\n%b = diagonal(%a)\n"
            "%c = unsqueeze(%b, 0)\n%d = expand(%c, [2, 2])\nresults %d") == Values{8, 21, 8, 21});
}

TEST_CASE("parts are the operand's, one after another") {
  CHECK(run("%x = input f32[2, 3]\n%s = split.Tensor(%x, 2, 1)\n%a = getitem(%s, 1)\n"
            "%b = getitem(%s, 0)\nresults %a, %b") == Values{2, 5, 0, 1, 3, 4});
  CHECK(run("%x = input f32[5]\n%s = split_with_sizes(%x, [1, 0, 4])\n%a = getitem(%s, 1)\n"
            "%b = getitem(%s, 2)\nresults %a, %b") == Values{1, 2, 3, 4});
  CHECK(run("%x = input f32[2, 2]\n%s = unbind.int(%x, 1)\n%a = getitem(%s, 1)\nresults %a") ==
        Values{1, 3});
  CHECK(run("%x = input f32[5]\n%s = chunk(%x, 2)\n%a = getitem(%s, 1)\nresults %a") ==
        Values{3, 4});
}

TEST_CASE("no view reaches outside its storage") {
  CHECK(fault("%x = input f32[6]\n%y = as_strided(%x, [2, 2], [4, 2])\nresults %y")
            .find("as_strided: shape [2, 2] with strides [4, 2] from 0 reaches outside a storage "
                  "of 6 elements") != std::string::npos);
  CHECK(fault("%x = input f32[6]\n%y = as_strided(%x, [1], [1], 6)\nresults %y").find("outside") !=
        std::string::npos);
  CHECK(fault("%x = input f32[6]\n%v = slice.Tensor(%x, 0, 2)\n"
              "%y = as_strided_copy(%v, [5], [1])\nresults %y")
            .find("outside") != std::string::npos);
}

}  // namespace
}  // namespace recut
