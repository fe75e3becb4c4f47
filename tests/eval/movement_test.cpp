// Kernels that move, pad and repeat data, by values known by hand.
#include "tests/eval/run_text.h"

namespace recut {
namespace {

using test::fault;
using test::run;
using test::Values;

struct Case {
  const char *type, *call;
  Values expected;
};

// Each call is on %x, which holds 0, 1, 2, ….
void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.call);
    CHECK(run(std::string("%x = input ") + c.type + "\n%y = " + c.call + "\nresults %y") ==
          c.expected);
  }
}

TEST_CASE("tensors are joined") {
  const std::string two = "%a = input f32[2, 1]\n%b = input f32[2, 2]\n%e = input f32[0]\n";
  CHECK(run(two + "%y = cat([%a, %e, %b], -1)\nresults %y") == Values{0, 0, 1, 1, 2, 3});
  CHECK(run("%e = input f32[0]\n%y = cat([%e, %e])\nresults %y").empty());
  CHECK(run("%i = input i64[1]\n%f = input f32[1]\n%y = cat([%i, %f])\nresults %y",
            {{"f", {0.5}}, {"i", {7}}}) == Values{7, 0.5});
  CHECK(run("%a = input f32[2]\n%b = input f32[2]\n%y = stack([%a, %b], 1)\nresults %y",
            {{"b", {8, 9}}}) == Values{0, 8, 1, 9});
  CHECK(fault(two + "%y = cat([%a, %b])\nresults %y").find("does not fit") != std::string::npos);
  CHECK(fault("%e = input f32[0]\n%y = cat([%e], 1)\nresults %y").find("out of range") !=
        std::string::npos);
}

TEST_CASE("padding") {
  check({
      {"f32[3]", "constant_pad_nd(%x, [1, 2], 9.0)", {9, 0, 1, 2, 9, 9}},
      {"f32[4]", "constant_pad_nd(%x, [-1, 1])", {1, 2, 3, 0}},
      {"f32[2, 2]", "constant_pad_nd(%x, [0, 1, 1, -1], 5)", {5, 5, 5, 0, 1, 5}},
      {"i64[2]", "constant_pad_nd(%x, [0, 1], 7)", {0, 1, 7}},
      {"f32[0]", "constant_pad_nd(%x, [1, 1], 3)", {3, 3}},
      {"f32[1, 3]", "reflection_pad1d(%x, [2, 1])", {2, 1, 0, 1, 2, 1}},
      {"f32[1, 3]", "replication_pad1d(%x, [2, -1])", {0, 0, 0, 1}},
      {"f32[1, 2, 2]", "replication_pad2d(%x, [1, 0, 0, 1])", {0, 0, 1, 2, 2, 3, 2, 2, 3}},
      {"f32[1, 2, 2]", "reflection_pad2d(%x, [1, 0, 0, 1])", {1, 0, 1, 3, 2, 3, 1, 0, 1}},
  });
  CHECK(run("%x = input f32[1, 3]\n%g = input f32[1, 6]\n"
            "%y = reflection_pad1d_backward(%g, %x, [2, 1])\nresults %y") ==
        Values{2, 1 + 3 + 5, 0 + 4});
  CHECK(run("%x = input f32[1, 3]\n%g = input f32[1, 6]\n"
            "%y = replication_pad1d_backward(%g, %x, [2, 1])\nresults %y") ==
        Values{0 + 1 + 2, 3, 4 + 5});
  CHECK(fault("%x = input f32[1, 3]\n%y = reflection_pad1d(%x, [3, 0])\nresults %y")
            .find("has to be less") != std::string::npos);
  CHECK(fault("%x = input f32[3]\n%y = constant_pad_nd(%x, [-2, -2])\nresults %y")
            .find("padding -2 and -2 of a dimension of size 3") != std::string::npos);
  CHECK(fault("%x = input f32[3]\n%y = constant_pad_nd(%x, [9223372036854775807, 1])\nresults %y")
            .find("padding") != std::string::npos);
}

TEST_CASE("turning and rolling") {
  check({
      {"f32[2, 3]", "flip(%x, [-1])", {2, 1, 0, 5, 4, 3}},
      {"f32[2, 3]", "prims.rev(%x, [0, 1])", {5, 4, 3, 2, 1, 0}},
      {"f32[]", "flip(%x, [0])", {0}},
      {"f32[2, 3]", "roll(%x, [1])", {5, 0, 1, 2, 3, 4}},
      {"f32[2, 3]", "roll(%x, [-1, 4], [1, -1])", {0, 1, 2, 3, 4, 5}},
      {"f32[2, 3]", "roll(%x, [1, 1], [0, 1])", {5, 3, 4, 2, 0, 1}},
      {"f32[0]", "roll(%x, [3])", {}},
      {"f32[2, 3]", "rot90(%x)", {2, 5, 1, 4, 0, 3}},
      {"f32[2, 3]", "rot90(%x, -1)", {3, 0, 4, 1, 5, 2}},
      {"f32[2, 3]", "rot90(%x, 2, [1, 0])", {5, 4, 3, 2, 1, 0}},
  });
}

TEST_CASE("repeating and resizing") {
  check({
      {"f32[2]", "repeat(%x, [2, 2])", {0, 1, 0, 1, 0, 1, 0, 1}},
      {"f32[2]", "repeat(%x, [0])", {}},
      {"f32[]", "repeat(%x, [3])", {0, 0, 0}},
      {"f32[2, 2]", "tile(%x, [2])", {0, 1, 0, 1, 2, 3, 2, 3}},
      {"f32[2, 2]", "repeat_interleave.self_int(%x, 2)", {0, 0, 1, 1, 2, 2, 3, 3}},
      {"f32[2, 2]", "repeat_interleave.self_int(%x, 2, 0)", {0, 1, 0, 1, 2, 3, 2, 3}},
      {"f32[2, 2]", "resize(%x, [3])", {0, 1, 2}},
      {"f32[2]", "resize(%x, [2, 2])", {0, 1, 0, 0}},
  });
  const std::string repeats = "%x = input f32[3]\n%r = input i64[3]\n";
  CHECK(run(repeats + "%y = repeat_interleave.self_Tensor(%x, %r) : f32[3]\nresults %y") ==
        Values{1, 2, 2});
  CHECK(run(repeats + "%y = repeat_interleave.Tensor(%r) : i64[3]\nresults %y") == Values{1, 2, 2});
  CHECK(fault(repeats + "%y = repeat_interleave.Tensor(%r) : i64[4]\nresults %y")
            .find("4 positions were recorded") != std::string::npos);
  CHECK(fault(repeats + "%y = repeat_interleave.Tensor(%r) : i64[2]\nresults %y",
              {{"r", {1e18, 0, 0}}})
            .find("leaves 2 of 2 positions") != std::string::npos);
  CHECK(fault("%x = input f32[4]\n%y = repeat(%x, [9223372036854775807])\nresults %y")
            .find("repeated") != std::string::npos);
}

TEST_CASE("triangles, diagonals, pixels") {
  check({
      {"f32[2, 3]", "tril(%x)", {0, 0, 0, 3, 4, 0}},
      {"f32[2, 3]", "triu(%x, 1)", {0, 1, 2, 0, 0, 5}},
      {"f32[2, 3]", "tril(%x, -5)", {0, 0, 0, 0, 0, 0}},
      {"f32[2]", "diag_embed(%x)", {0, 0, 0, 1}},
      {"f32[1]", "diag_embed(%x, 1, 0, 1)", {0, 0, 0, 0}},
      {"f32[4, 1, 1]", "pixel_shuffle(%x, 2)", {0, 1, 2, 3}},
      {"f32[1, 2, 2]", "pixel_unshuffle(%x, 2)", {0, 1, 2, 3}},
      {"f32[4, 1, 2]", "pixel_shuffle(%x, 2)", {0, 2, 1, 3, 4, 6, 5, 7}},
      {"f32[1, 2, 4]", "pixel_unshuffle(%x, 2)", {0, 2, 1, 3, 4, 6, 5, 7}},
      {"f32[1, 4, 1]", "channel_shuffle(%x, 2)", {0, 2, 1, 3}},
  });
  CHECK(run("%x = input f32[2]\n%y = diag_embed(%x, -1)\nresults %y", {{"x", {5, 6}}}) ==
        Values{0, 0, 0, 5, 0, 0, 0, 6, 0});
}

TEST_CASE("windows as columns, and back") {
  check({
      {"f32[1, 2, 3]", "im2col(%x, [2, 2], [1, 1], [0, 0], [1, 1])", {0, 1, 1, 2, 3, 4, 4, 5}},
      {"f32[1, 1, 2]", "im2col(%x, [1, 2], [1, 2], [0, 1], [1, 1])", {0, 0, 1, 0}},
      {"f32[4, 2]",
       "col2im(%x, [2, 3], [2, 2], [1, 1], [0, 0], [1, 1])",
       {0, 1 + 2, 3, 4, 5 + 6, 7}},
  });
  CHECK(run("%g = input f32[2, 3]\n%y = unfold_backward(%g, [4], 0, 3, 1)\nresults %y") ==
        Values{0, 1 + 3, 2 + 4, 5});
}

TEST_CASE("a part is replaced") {
  const std::string lines = "%x = input f32[2, 3]\n%s = input f32[2]\n";
  const test::InputValues given{{"s", {8, 9}}};
  CHECK(run(lines + "%y = select_scatter(%x, %s, 1, -1)\nresults %y", given) ==
        Values{0, 1, 8, 3, 4, 9});
  CHECK(run(lines + "%y = diagonal_scatter(%x, %s, 1)\nresults %y", given) ==
        Values{0, 8, 2, 3, 4, 9});
  CHECK(run(lines + "%y = as_strided_scatter(%x, %s, [2], [2], 1)\nresults %y", given) ==
        Values{0, 8, 2, 9, 4, 5});
  CHECK(run("%x = input f32[4]\n%s = input f32[2]\n%y = slice_scatter(%x, %s, 0, 0, 4, 2)\n"
            "results %y",
            given) == Values{8, 1, 9, 3});
  // Strides count in the layout of the tensor that is scattered into, gaps included.
  CHECK(run("%x = input f32[2, 3]\n%t = t(%x)\n%s = input f32[2]\n"
            "%y = as_strided_scatter(%t, %s, [2], [1])\nresults %y",
            given) == Values{8, 3, 9, 4, 2, 5});
  CHECK(fault("%x = input f32[4]\n%s = input f32[2]\n%y = as_strided_scatter(%x, %s, [2], [4])\n"
              "results %y")
            .find("outside") != std::string::npos);
  CHECK(run("%g = input f32[2]\n%y = select_backward(%g, [2, 2], 0, 1)\nresults %y") ==
        Values{0, 0, 0, 1});
  CHECK(run("%g = input f32[2]\n%y = slice_backward(%g, [4], 0, 1, 4, 2)\nresults %y",
            {{"g", {5, 6}}}) == Values{0, 5, 0, 6});
  CHECK(run("%g = input f32[2]\n%y = diagonal_backward(%g, [2, 2], 0, 0, 1)\nresults %y",
            {{"g", {5, 6}}}) == Values{5, 0, 0, 6});
}

}  // namespace
}  // namespace recut
