// Views: shapes and strides that a call gives, and what it refuses.
#include "engine/ir/layout.h"

#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "tests/ir/call_builder.h"

namespace recut {
namespace {

using test::CallBuilder;
using test::Named;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

Argument ints(std::vector<std::int64_t> values) { return Argument(values); }

// One view of a fresh contiguous tensor.
struct Case {
  std::string name;
  Shape self;
  Named arguments;
  std::string expected;  // the type, or a part of the error message
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CallBuilder builder;
    const std::string first(find_operator_by_name(c.name)->parameters[0].name);
    Named named{{first, builder.input(DType::f32, c.self)}};
    named.insert(named.end(), c.arguments.begin(), c.arguments.end());
    INFO(c.name << " of " << format_shape(c.self));
    const std::string found = builder.type(c.name, named);
    INFO(found);
    const bool refused = c.expected.find('[') != 3;
    CHECK((refused ? found.find(c.expected) != std::string::npos : found == c.expected));
  }
}

TEST_CASE("views reorder and reshape") {
  check({
      {"permute", {2, 3, 4}, {{"dims", ints({2, 0, -2})}}, "f32[4, 2, 3]{1, 12, 4}"},
      {"permute", {2, 3}, {{"dims", ints({0, 0})}}, "named twice"},
      {"permute", {2, 3}, {{"dims", ints({0})}}, "1 dimensions named for a tensor of 2"},
      {"transpose.int", {2, 3}, {{"dim0", 0}, {"dim1", -1}}, "f32[3, 2]{1, 3}"},
      {"transpose.int", {}, {{"dim0", 0}, {"dim1", -1}}, "f32[]"},
      {"transpose.int", {2}, {{"dim0", 0}, {"dim1", 1}}, "out of range"},
      {"t", {2, 3}, {}, "f32[3, 2]{1, 3}"},
      {"t", {3}, {}, "f32[3]"},
      {"t", {1, 2, 3}, {}, "at most 2"},
      {"movedim.int", {2, 3, 4}, {{"source", 0}, {"destination", 2}}, "f32[3, 4, 2]{4, 1, 12}"},
      {"view", {2, 6}, {{"size", ints({3, -1})}}, "f32[3, 4]"},
      {"view", {}, {{"size", ints({1, 1})}}, "f32[1, 1]"},
      {"view", {0, 3}, {{"size", ints({3, 0, 2})}}, "f32[3, 0, 2]"},
      {"view", {0, 3}, {{"size", ints({-1, 0})}}, "could be any size"},
      {"view", {2, 3}, {{"size", ints({4})}}, "6 elements can't be viewed as [4]"},
      {"view", {2, 3}, {{"size", ints({-1, -1})}}, "can't be inferred"},
      {"view", {2, 3}, {{"size", ints({kHuge, kHuge})}}, "larger than any tensor"},
      {"flatten.using_ints", {2, 3, 4}, {{"start_dim", 1}}, "f32[2, 12]"},
      {"flatten.using_ints", {}, {}, "f32[1]"},
      {"unflatten.int", {2, 12}, {{"dim", 1}, {"sizes", ints({3, -1})}}, "f32[2, 3, 4]"},
      {"view.dtype", {2, 3}, {{"dtype", DType::i16}}, "i16[2, 6]"},
      {"view.dtype", {2, 3}, {{"dtype", DType::i32}}, "i32[2, 3]"},
      {"view.dtype", {2, 3}, {{"dtype", DType::f64}}, "no multiple of 8"},
      {"view.dtype", {}, {{"dtype", DType::u8}}, "zero-dimensional"},
  });
}

TEST_CASE("views add and drop dimensions") {
  check({
      {"expand", {3, 1}, {{"size", ints({2, -1, 4})}}, "f32[2, 3, 4]{0, 1, 0}"},
      {"expand", {}, {{"size", ints({2, 1})}}, "f32[2, 1]{0, 1}"},
      {"expand", {3}, {{"size", ints({0, 3})}}, "f32[0, 3]{0, 1}"},
      {"expand", {3}, {{"size", ints({2})}}, "dimension 0 is 3, not 1"},
      {"expand", {3}, {{"size", ints({-1, 3})}}, "can't be inferred"},
      {"expand", {1}, {{"size", ints({kHuge})}}, "larger than the"},
      {"prims.broadcast_in_dim",
       {2, 1},
       {{"shape", ints({2, 3, 4})}, {"broadcast_dimensions", ints({0, 2})}},
       "f32[2, 3, 4]{1, 0, 0}"},
      {"prims.broadcast_in_dim",
       {2},
       {{"shape", ints({2})}, {"broadcast_dimensions", ints({1})}},
       "have to ascend"},
      {"unsqueeze", {2, 3}, {{"dim", -1}}, "f32[2, 3, 1]"},
      {"unsqueeze", {2, 3}, {{"dim", 0}}, "f32[1, 2, 3]"},
      {"unsqueeze", {}, {{"dim", 0}}, "f32[1]"},
      {"unsqueeze", {2}, {{"dim", 2}}, "out of range"},
      {"squeeze", {1, 2, 1}, {}, "f32[2]"},
      {"squeeze.dim", {1, 2, 1}, {{"dim", -1}}, "f32[1, 2]"},
      {"squeeze.dim", {1, 2, 1}, {{"dim", 1}}, "f32[1, 2, 1]"},
      {"squeeze.dims", {1, 2, 1}, {{"dim", ints({0, -1})}}, "f32[2]"},
      {"squeeze.dims", {1, 2}, {{"dim", ints({0, -2})}}, "named twice"},
  });
}

TEST_CASE("views take parts") {
  check({
      {"select.int", {2, 3}, {{"dim", 1}, {"index", -1}}, "f32[2]{3}"},
      {"select.int", {2, 3}, {{"dim", 1}, {"index", 3}}, "index 3 is out of range"},
      {"select.int", {}, {{"dim", 0}, {"index", 0}}, "with dimensions is expected"},
      {"slice.Tensor", {10}, {{"start", 1}, {"end", 8}, {"step", 3}}, "f32[3]{3}"},
      {"slice.Tensor", {10}, {{"start", -3}, {"end", kHuge}}, "f32[3]"},
      {"slice.Tensor", {10}, {{"start", 7}, {"end", 3}}, "f32[0]"},
      {"slice.Tensor", {10}, {{"start", -kHuge - 1}, {"end", None{}}}, "f32[10]"},
      {"slice.Tensor", {10}, {{"step", kHuge}}, "f32[1]{1125899906842624}"},
      {"slice.Tensor", {10}, {{"step", 0}}, "step 0 is not positive"},
      {"narrow", {4, 2}, {{"dim", 0}, {"start", -2}, {"length", 2}}, "f32[2, 2]"},
      {"narrow", {4}, {{"dim", 0}, {"start", 3}, {"length", 2}}, "leave dimension 0 of size 4"},
      {"diagonal", {3, 4}, {{"offset", 1}}, "f32[3]{5}"},
      {"diagonal", {3, 4}, {{"offset", -3}}, "f32[0]{5}"},
      {"diagonal", {2, 3, 4}, {{"dim1", -1}, {"dim2", 0}}, "f32[3, 2]{4, 13}"},
      {"diagonal", {3, 3}, {{"dim1", 1}, {"dim2", -1}}, "two different dimensions"},
      {"diagonal", {3, 3}, {{"offset", -kHuge - 1}}, "f32[0]{4}"},
      {"unfold", {2, 7}, {{"dimension", 1}, {"size", 3}, {"step", 2}}, "f32[2, 3, 3]{7, 2, 1}"},
      {"unfold", {}, {{"dimension", 0}, {"size", 1}, {"step", 1}}, "f32[1]"},
      {"unfold", {2}, {{"dimension", 0}, {"size", 3}, {"step", 1}}, "windows of 3"},
      {"as_strided", {6}, {{"size", ints({2, 2})}, {"stride", ints({1, 2})}}, "f32[2, 2]{1, 2}"},
      {"as_strided", {6}, {{"size", ints({2})}, {"stride", ints({1, 2})}}, "2 strides given for 1"},
      {"as_strided", {6}, {{"size", ints({2})}, {"stride", ints({kHuge})}}, "is no layout"},
      {"as_strided", {6}, {{"size", ints({2})}, {"stride", ints({-1})}}, "is no layout"},
  });
}

std::string types_of(const std::string& name, const Shape& self, const Named& arguments) {
  CallBuilder builder;
  Named named{{"self", builder.input(DType::f32, self)}};
  named.insert(named.end(), arguments.begin(), arguments.end());
  const auto made = builder.call(name, named);
  if (!made) return made.diagnostics().front().message;
  std::string text;
  for (const TensorType& type : builder.graph[*made].outputs)
    text += (text.empty() ? "" : " ") + format(type);
  return text;
}

TEST_CASE("views of several outputs") {
  CHECK(types_of("split.Tensor", {5, 2}, {{"split_size", 2}}) == "f32[2, 2] f32[2, 2] f32[1, 2]");
  CHECK(types_of("split.Tensor", {0}, {{"split_size", 0}}) == "f32[0]");
  CHECK(types_of("split.Tensor", {3}, {{"split_size", 0}}).find("fits an empty") !=
        std::string::npos);
  CHECK(types_of("split_with_sizes", {2, 5}, {{"split_sizes", ints({1, 4})}, {"dim", -1}}) ==
        "f32[2, 1]{5, 1} f32[2, 4]{5, 1}");
  CHECK(types_of("split_with_sizes", {5}, {{"split_sizes", ints({kHuge, kHuge})}})
            .find("do not add up") != std::string::npos);
  CHECK(types_of("split.sizes", {3}, {{"split_size", ints({1, 2})}}) == "f32[1] f32[2]");
  CHECK(types_of("unbind.int", {2, 3}, {{"dim", 1}}) == "f32[2]{3} f32[2]{3} f32[2]{3}");
  CHECK(types_of("unbind.int", {0, 3}, {}) == "");
  CHECK(types_of("unbind.int", {1 << 20}, {}).find("outputs, at most") != std::string::npos);
  CHECK(types_of("chunk", {7}, {{"chunks", 4}}) == "f32[2] f32[2] f32[2] f32[1]");
  CHECK(types_of("chunk", {0}, {{"chunks", 2}}) == "f32[0] f32[0]");
  CHECK(types_of("chunk", {2}, {{"chunks", 0}}).find("at least one") != std::string::npos);
}

TEST_CASE("a view of strides that don't fit is a copy, and reading it does not fail") {
  CallBuilder builder;
  const auto x = builder.input(DType::f32, {2, 3});
  const auto turned = builder.call("permute", {{"self", x}, {"dims", ints({1, 0})}});
  REQUIRE(turned.ok());
  CHECK(builder.type("view", {{"self", *turned}, {"size", ints({6})}}) == "f32[6]");
  CHECK(builder.type("view", {{"self", *turned}, {"size", ints({3, 1, 2})}}) ==
        "f32[3, 1, 2]{1, 6, 3}");
}

TEST_CASE("layouts are checked against their storage without overflow") {
  CHECK(layout::is_within({{2, 3}, {3, 1}, 0, false}, 6));
  CHECK_FALSE(layout::is_within({{2, 3}, {3, 1}, 1, false}, 6));
  CHECK(layout::is_within({{0, 3}, {3, 1}, 100, false}, 0));
  CHECK_FALSE(layout::is_within({{2}, {kHuge}, kHuge, false}, 6));
  CHECK_FALSE(layout::is_within({{kHuge}, {2}, 0, false}, 6));
  CHECK_FALSE(layout::is_within({{2}, {-1}, 0, false}, 6));
  CHECK(layout::is_within({{2}, {-1}, 1, false}, 6));
}

}  // namespace
}  // namespace recut
