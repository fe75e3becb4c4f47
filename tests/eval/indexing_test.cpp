// Kernels that read and write at indices, by values known by hand.
#include <cmath>

#include "tests/eval/run_text.h"

namespace recut {
namespace {

using test::fault;
using test::InputValues;
using test::run;
using test::Values;

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

TEST_CASE("gather and scatter along a dimension") {
  const std::string lines = "%x = input f32[2, 3]\n%i = input i64[2, 2]\n%s = input f32[2, 2]\n";
  const InputValues given{{"i", {2, 0, 1, 1}}, {"s", {10, 20, 30, 40}}};
  CHECK(run(lines + "%y = gather(%x, -1, %i)\nresults %y", given) == Values{2, 0, 4, 4});
  CHECK(run(lines + "%y = scatter.src(%x, 1, %i, %s)\nresults %y", given) ==
        Values{20, 1, 10, 3, 40, 5});
  CHECK(run(lines + "%y = scatter.value(%x, 1, %i, 7)\nresults %y", given) ==
        Values{7, 1, 7, 3, 7, 5});
  CHECK(run(lines + "%y = scatter_add(%x, 1, %i, %s)\nresults %y", given) ==
        Values{20, 1, 12, 3, 74, 5});
  CHECK(run(lines + "%y = scatter.reduce(%x, 1, %i, %s, reduce=\"multiply\")\nresults %y", given) ==
        Values{0, 1, 20, 3, 4800, 5});
  CHECK(run(lines + "%y = scatter.value_reduce(%x, 1, %i, 2, reduce=\"add\")\nresults %y", given) ==
        Values{2, 1, 4, 3, 8, 5});
  contains(fault(lines + "%y = gather(%x, 1, %i)\nresults %y", {{"i", {0, 3, 0, 0}}}),
           "gather: index 3 is out of range for dimension 1 of size 3");
  contains(fault(lines + "%y = scatter_add(%x, 0, %i, %s)\nresults %y", {{"i", {0, -1, 0, 0}}}),
           "scatter_add: index -1 is out of range for dimension 0 of size 2");
  contains(fault(lines + "%y = scatter.src(%x, 1, %i, %s)\nresults %y", {{"i", {1e18, 0, 0, 0}}}),
           "out of range");
}

TEST_CASE("gather and scatter of zero-dimensional and empty tensors") {
  CHECK(run("%x = input f32[]\n%i = input i64[]\n%y = gather(%x, 0, %i)\nresults %y",
            {{"x", {5}}}) == Values{5});
  CHECK(run("%x = input f32[]\n%i = input i64[1]\n%s = input f32[1]\n"
            "%y = scatter_add(%x, 0, %i, %s)\nresults %y",
            {{"x", {5}}, {"s", {2}}}) == Values{7});
  CHECK(run("%x = input f32[3]\n%i = input i64[0]\n%y = gather(%x, 0, %i)\nresults %y").empty());
  CHECK(run("%x = input f32[2]\n%i = input i64[0, 4]\n%s = input f32[0, 4]\n"
            "%y = scatter.src(%x, 0, %i, %s)\nresults %y") == Values{0, 1});
}

TEST_CASE("values that meet are reduced") {
  const std::string lines = "%x = input f32[3]\n%i = input i64[3]\n%s = input f32[3]\n";
  const InputValues given{{"x", {1, 2, 9}}, {"i", {0, 1, 1}}, {"s", {4, 3, 8}}};
  const struct {
    const char* name;
    Values with_self, without;
  } kCases[] = {
      {"sum", {5, 13, 9}, {4, 11, 9}},
      {"prod", {4, 48, 9}, {4, 24, 9}},
      {"amax", {4, 8, 9}, {4, 8, 9}},
      {"amin", {1, 2, 9}, {4, 3, 9}},
      {"mean", {2.5, 13.0 / 3, 9}, {4, 5.5, 9}},
  };
  for (const auto& c : kCases) {
    INFO(c.name);
    const std::string reduce = std::string(", \"") + c.name + "\"";
    for (const bool self : {true, false}) {
      const std::string flag = self ? "" : ", include_self=false";
      Values expected = self ? c.with_self : c.without;
      for (double& v : expected) v = static_cast<float>(v);
      CHECK(run(lines + "%y = scatter_reduce.two(%x, 0, %i, %s" + reduce + flag + ")\nresults %y",
                given) == expected);
      if (std::string_view(c.name) != "sum")
        CHECK(run(lines + "%y = index_reduce(%x, 0, %i, %s" + reduce + flag + ")\nresults %y",
                  given) == expected);
    }
  }
  const std::string whole = "%x = input i64[1]\n%i = input i64[1]\n%s = input i64[1]\n";
  CHECK(run(whole + "%y = scatter_reduce.two(%x, 0, %i, %s, \"mean\")\nresults %y",
            {{"x", {-4}}, {"s", {-1}}}) == Values{-3});
  contains(fault(lines + "%y = scatter_reduce.two(%x, 0, %i, %s, \"median\")\nresults %y", given),
           "reduce is 'median'");
}

TEST_CASE("advanced indexing") {
  const std::string lines =
      "%x = input f32[2, 3, 2]\n%i = input i64[2]\n%j = input i64[2, 1]\n%m = input bool[2]\n";
  const InputValues given{{"i", {1, -2}}, {"j", {0, 2}}};
  CHECK(run(lines + "%y = index.Tensor(%x, [%i])\nresults %y", given) ==
        Values{6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5});
  // Neighbours stay where they are and broadcast together.
  CHECK(run(lines + "%y = index.Tensor(%x, [%i, %j])\nresults %y", given) ==
        Values{6, 7, 0, 1, 10, 11, 4, 5});
  CHECK(run(lines + "%y = index.Tensor(%x, [none, %j])\nresults %y", given) ==
        Values{0, 1, 4, 5, 6, 7, 10, 11});
  // Apart, they come first.
  CHECK(run(lines + "%y = index.Tensor(%x, [%i, none, %i])\nresults %y", {{"i", {1, 0}}}) ==
        Values{7, 9, 11, 0, 2, 4});
  CHECK(run(lines + "%y = index.Tensor(%x, [none, none])\nresults %y").size() == 12);
  contains(fault(lines + "%y = index.Tensor(%x, [none, %i])\nresults %y", {{"i", {0, 3}}}),
           "index.Tensor: index 3 is out of range for dimension 1 of size 3");
  contains(fault(lines + "%y = index.Tensor(%x, [%m])\nresults %y"), "depends on values");
  contains(fault(lines + "%y = index.Tensor(%x, [%i, %i, %i, %i])\nresults %y"), "4 indices");
}

TEST_CASE("values are put to where indexing would read") {
  const std::string lines =
      "%x = input f32[2, 2]\n%i = input i64[2]\n%v = input f32[2]\n%m = input bool[2]\n";
  const InputValues given{{"i", {1, -1}}, {"v", {10, 20}}, {"m", {0, 1}}};
  CHECK(run(lines + "%y = index_put(%x, [%i, %i], %v)\nresults %y", given) == Values{0, 1, 2, 20});
  CHECK(run(lines + "%y = index_put(%x, [%i], %v, true)\nresults %y", given) ==
        Values{0, 1, 22, 43});
  CHECK(run(lines + "%y = index_put(%x, [%m], %v)\nresults %y", given) == Values{0, 1, 10, 20});
  CHECK(run("%x = input f32[2, 2]\n%m = input bool[2, 2]\n%v = input f32[]\n"
            "%y = index_put(%x, [%m], %v)\nresults %y",
            {{"m", {0, 1, 1, 0}}, {"v", {9}}}) == Values{0, 9, 9, 3});
  contains(fault("%x = input f32[4]\n%m = input bool[4]\n%v = input f32[3]\n"
                 "%y = index_put(%x, [%m], %v)\nresults %y",
                 {{"m", {1, 1, 0, 0}}}),
           "values of shape [3] for positions of shape [2]");
}

TEST_CASE("masked indexing clamps what the mask hides") {
  const std::string lines =
      "%x = input f32[3]\n%i = input i64[3]\n%m = input bool[3]\n%v = input f32[3]\n";
  const InputValues given{{"i", {-7, 1, 99}}, {"m", {0, 1, 1}}, {"v", {10, 20, 30}}};
  CHECK(run(lines + "%y = _unsafe_masked_index(%x, %m, [%i], 5)\nresults %y", given) ==
        Values{5, 1, 2});
  CHECK(run(lines + "%y = _unsafe_masked_index_put_accumulate(%x, %m, [%i], %v)\nresults %y",
            given) == Values{0, 21, 32});
}

TEST_CASE("indices of one dimension") {
  const std::string lines = "%x = input f32[2, 3]\n%i = input i64[2]\n%s = input f32[2, 2]\n";
  const InputValues given{{"i", {2, 2}}, {"s", {10, 20, 30, 40}}};
  CHECK(run(lines + "%y = index_select(%x, 1, %i)\nresults %y", given) == Values{2, 2, 5, 5});
  CHECK(run(lines + "%y = index_add(%x, 1, %i, %s, alpha=2)\nresults %y", given) ==
        Values{0, 1, 62, 3, 4, 145});
  CHECK(run(lines + "%y = index_copy(%x, -1, %i, %s)\nresults %y", given) ==
        Values{0, 1, 20, 3, 4, 40});
  CHECK(run(lines + "%y = index_fill.int_Scalar(%x, 1, %i, 7)\nresults %y", {{"i", {0, -1}}}) ==
        Values{7, 1, 7, 7, 4, 7});
  CHECK(run("%x = input f32[]\n%i = input i64[]\n%y = index_select(%x, 0, %i)\nresults %y",
            {{"x", {3}}}) == Values{3});
  contains(fault(lines + "%y = index_select(%x, 0, %i)\nresults %y", given),
           "index_select: index 2 is out of range for dimension 0 of size 2");
}

TEST_CASE("embeddings and their gradients") {
  const std::string lines = "%w = input f32[3, 2]\n%i = input i64[3]\n%g = input f32[3, 2]\n";
  const InputValues given{{"i", {2, 0, 2}}, {"g", {1, 2, 3, 4, 5, 6}}};
  CHECK(run(lines + "%y = embedding(%w, %i)\nresults %y", given) == Values{4, 5, 0, 1, 4, 5});
  CHECK(run(lines + "%y = embedding_dense_backward(%g, %i, 3, -1, false)\nresults %y", given) ==
        Values{3, 4, 0, 0, 6, 8});
  CHECK(run(lines + "%y = embedding_dense_backward(%g, %i, 3, 0, true)\nresults %y", given) ==
        Values{0, 0, 0, 0, 3, 4});
  contains(fault(lines + "%y = embedding(%w, %i)\nresults %y", {{"i", {0, 3, 0}}}),
           "embedding: index 3 is out of range");
}

TEST_CASE("embeddings by the bag") {
  // Bags {2, 0} and {1, 2, 0}; the weight's rows are (0, 1), (2, 3), (4, 5).
  const std::string lines =
      "%w = input f32[3, 2]\n%i = input i64[5]\n%o = input i64[2]\n%s = input f32[5]\n"
      "%g = input f32[2, 2]\n";
  const InputValues given{{"i", {2, 0, 1, 2, 0}}, {"o", {0, 2}}, {"s", {1, 2, 3, 4, 5}}};
  const auto bag = [&](const std::string& arguments) {
    return run(lines + "%b = _embedding_bag(%w, %i, %o, " + arguments +
                   ")\n%y = getitem(%b, 0)\n%n = getitem(%b, 2)\nresults %y, %n",
               given);
  };
  CHECK(bag("mode=0") == Values{4, 6, 6, 9, 2, 3});
  CHECK(bag("mode=1") == Values{2, 3, 2, 3, 2, 3});
  CHECK(bag("mode=2") == Values{4, 5, 4, 5, 2, 3});
  CHECK(bag("mode=0, padding_idx=2") == Values{0, 1, 2, 4, 1, 2});
  CHECK(bag("mode=0, per_sample_weights=%s") == Values{4, 7, 22, 34, 2, 3});

  const std::string backward =
      "%b = _embedding_bag(%w, %i, %o, mode=0)\n%t = getitem(%b, 1)\n"
      "%n = getitem(%b, 2)\n%m = getitem(%b, 3)\n";
  CHECK(run(lines + backward +
                "%y = _embedding_bag_dense_backward(%g, %i, %t, %n, %m, 3, false, 0, none)\n"
                "results %y",
            given) == Values{2, 4, 2, 3, 2, 4});
  CHECK(run(lines + backward +
                "%y = _embedding_bag_per_sample_weights_backward(%g, %w, %i, %o, %t, 0)\n"
                "results %y",
            given) == Values{5, 1, 13, 23, 3});
  contains(fault(lines + backward + "results %t", {{"i", {2, 0, 1, 2, 0}}, {"o", {3, 1}}}),
           "bag 0 from 3 to 1");
}

TEST_CASE("the flattened tensor") {
  const std::string lines = "%x = input f32[2, 2]\n%i = input i64[2]\n%s = input f32[2]\n";
  const InputValues given{{"i", {-1, 3}}, {"s", {5, 6}}};
  CHECK(run(lines + "%y = take(%x, %i)\nresults %y", given) == Values{3, 3});
  CHECK(run(lines + "%y = put(%x, %i, %s)\nresults %y", given) == Values{0, 1, 2, 6});
  CHECK(run(lines + "%y = put(%x, %i, %s, true)\nresults %y", given) == Values{0, 1, 2, 14});
  contains(fault(lines + "%y = take(%x, %i)\nresults %y", {{"i", {4, 0}}}), "take: index 4");
  CHECK(run("%x = input f32[2, 2]\n%i = input i64[1, 2]\n%y = take_along_dim(%x, %i, 0)\n"
            "results %y",
            {{"i", {1, 0}}}) == Values{2, 1});
  CHECK(run("%x = input f32[2, 2]\n%i = input i64[2, 1]\n%y = take_along_dim(%x, %i)\nresults %y",
            {{"i", {3, 0}}}) == Values{3, 0});
}

TEST_CASE("masks") {
  const std::string lines = "%x = input f32[2, 2]\n%m = input bool[2]\n%s = input f32[3]\n";
  const InputValues given{{"m", {0, 1}}, {"s", {7, 8, 9}}};
  CHECK(run(lines + "%y = masked_fill.Scalar(%x, %m, -inf)\nresults %y", given) ==
        Values{0, -INFINITY, 2, -INFINITY});
  CHECK(run(lines + "%y = masked_select(%x, %m) : f32[2]\nresults %y", given) == Values{1, 3});
  CHECK(run(lines + "%y = masked_scatter(%x, %m, %s)\nresults %y", given) == Values{0, 7, 2, 8});
  CHECK(run(lines + "%y = masked_scatter_backward(%x, %m, [3])\nresults %y", given) ==
        Values{1, 3, 0});
  CHECK(run(lines + "%y = nonzero(%x) : i64[3, 2]\nresults %y") == Values{0, 1, 1, 0, 1, 1});
  CHECK(run(lines + "%y = nonzero_static(%x, size=4)\nresults %y") ==
        Values{0, 1, 1, 0, 1, 1, -1, -1});
  contains(fault(lines + "%y = nonzero(%x) : i64[4, 2]\nresults %y"),
           "nonzero: the values give shape [3, 2], but [4, 2] was recorded");
  contains(fault(lines + "%y = masked_select(%x, %m) : f32[3]\nresults %y", given), "recorded");
  contains(fault("%x = input f32[4]\n%m = input bool[4]\n%s = input f32[3]\n"
                 "%y = masked_scatter(%x, %m, %s)\nresults %y",
                 {{"m", {1, 1, 1, 1}}}),
           "the mask holds 4 times, but the source has 3 elements");
}

}  // namespace
}  // namespace recut
