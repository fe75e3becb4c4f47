#include <catch2/catch_test_macros.hpp>

#include "tests/eval/one_call.h"

namespace recut::test {
namespace {

using List = std::vector<double>;
TEST_CASE("sums, means and variances over dimensions", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f32, {2, 3}, {1, 2, 3, 4, 5, 9});
  const Argument none = c.tensor(f32, {0, 3}, {});
  const Argument flags = c.tensor(DType::boolean, {3}, {1, 1, 0});
  CHECK(close(c.run("sum", {{"self", x}}), {24}));
  CHECK(close(c.run("sum.dim_IntList", {{"self", x}, {"dim", ints({-1})}}), {6, 18}));
  CHECK(close(c.run("sum.dim_IntList", {{"self", x}, {"dim", ints({0})}}), {5, 7, 12}));
  CHECK(close(c.run("sum.dim_IntList", {{"self", x}, {"dim", None{}}}), {24}));
  CHECK(close(c.run("sum", {{"self", flags}}), {2}));
  CHECK(close(c.run("sum", {{"self", c.reals({1.9, 2.9})}, {"dtype", DType::i64}}), {3}));
  CHECK(close(c.run("prod.dim_int", {{"self", x}, {"dim", 1}}), {6, 180}));
  CHECK(close(c.run("prod", {{"self", none}}), {1}));
  CHECK(close(c.run("nansum", {{"self", c.reals({1, kNan})}}), {1}));
  CHECK(close(c.run("nanmean", {{"self", c.reals({1, kNan, 3})}}), {2}));
  CHECK(close(c.run("mean.dim", {{"self", x}, {"dim", ints({0, 1})}}), {4}));
  CHECK(close(c.run("mean.dim", {{"self", none}, {"dim", ints({0})}}), {kNan, kNan, kNan}));
  CHECK(close(c.run("trace", {{"self", x}}), {6}));
  CHECK(close(c.run("var", {{"self", x}}), {8}));
  CHECK(close(c.run("var", {{"self", x}, {"unbiased", false}}), {20.0 / 3}));
  CHECK(close(c.run("std.dim", {{"self", x}, {"dim", ints({1})}}), {1, 2.64575131}));
  CHECK(close(c.run("var_mean.correction", {{"self", x}, {"dim", ints({1})}, {"correction", 0}}, 1),
              {2, 6}));
  // As many corrections as elements, or more: 0 / 0, and something / 0.
  CHECK(close(c.run("var.correction", {{"self", c.reals({5})}}), {kNan}));
  CHECK(close(c.run("var.correction", {{"self", c.reals({5, 6})}, {"correction", 3}}), {kInf}));
  CHECK(close(c.run("logsumexp", {{"self", c.reals({1000, 1000})}, {"dim", ints({0})}}),
              {1000.69315}));
  CHECK(
      close(c.run("logsumexp", {{"self", c.reals({-kInf, -kInf})}, {"dim", ints({0})}}), {-kInf}));
  CHECK(close(c.run("logsumexp", {{"self", c.reals({kInf, 1})}, {"dim", ints({0})}}), {kInf}));
}

TEST_CASE("norms", "[eval]") {
  OneCall c;
  const Argument x = c.reals({3, -4, 0});
  const auto norm = [&](Argument ord) {
    return c.run("linalg_vector_norm", {{"self", x}, {"ord", ord}});
  };
  CHECK(close(norm(2), {5}));
  CHECK(close(norm(1), {7}));
  CHECK(close(norm(0), {2}));
  CHECK(close(norm(kInf), {4}));
  CHECK(close(norm(-kInf), {0}));
  CHECK(close(norm(3), {4.49794145}));
  CHECK(close(c.run("norm.Scalar", {{"self", x}}), {5}));
  CHECK(close(c.run("norm.ScalarOpt_dim", {{"self", x}, {"p", None{}}, {"dim", ints({0})}}), {5}));
  CHECK(close(c.run("dist", {{"self", x}, {"other", c.reals({0, 0, 0})}, {"p", 1}}), {7}));
  const Argument rows = c.tensor(f32, {2, 2}, {3, 4, 0.3, 0.4});
  CHECK(close(c.run("renorm", {{"self", rows}, {"p", 2}, {"dim", 0}, {"maxnorm", 1}}),
              {0.6, 0.8, 0.3, 0.4}));
}

TEST_CASE("extremes and where they stand: NaN wins, the first of equals", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f32, {2, 4}, {1, 3, 3, 2, kNan, 5, kNan, 9});
  CHECK(close(c.run("amax", {{"self", x}, {"dim", ints({1})}}), {3, kNan}));
  CHECK(close(c.run("max.dim", {{"self", x}, {"dim", 1}}, 1), {1, 0}));
  CHECK(close(c.run("min.dim", {{"self", x}, {"dim", -1}, {"keepdim", true}}), {1, kNan}));
  CHECK(close(c.run("argmax", {{"self", x}}), {4}));
  CHECK(close(c.run("argmin", {{"self", x}, {"dim", 0}}), {1, 0, 1, 0}));
  CHECK(close(c.run("aminmax", {{"self", c.integers({4, -2, 7})}}, 0), {-2}));
  CHECK(close(c.run("aminmax", {{"self", c.integers({4, -2, 7})}}, 1), {7}));
  CHECK(close(c.run("max", {{"self", c.tensor(DType::i32, {}, {-5})}}), {-5}));
  CHECK(close(c.run("max.dim", {{"self", c.tensor(f32, {}, {-5})}, {"dim", 0}}, 1), {0}));
}

TEST_CASE("logic and counts over dimensions", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f32, {2, 2}, {0, kNan, 1, 2});
  const Argument none = c.tensor(f32, {0}, {});
  CHECK(close(c.run("any.dim", {{"self", x}, {"dim", 1}}), {1, 1}));
  CHECK(close(c.run("all.dim", {{"self", x}, {"dim", 1}}), {0, 1}));
  CHECK(close(c.run("all.dims", {{"self", x}, {"dim", ints({})}}), {0, 1, 1, 1}));
  CHECK(close(c.run("all.dims", {{"self", x}}), {0}));
  CHECK(close(c.run("all", {{"self", none}}), {1}));
  CHECK(close(c.run("any", {{"self", none}}), {0}));
  CHECK(close(c.run("count_nonzero", {{"self", x}}), {3}));
  CHECK(close(c.run("count_nonzero.dim_IntList", {{"self", x}, {"dim", ints({0})}}), {1, 2}));
}

TEST_CASE("scans", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(close(c.run("cumsum", {{"self", x}, {"dim", 1}}), {1, 3, 6, 4, 9, 15}));
  CHECK(close(c.run("cumsum", {{"self", x}, {"dim", 0}}), {1, 2, 3, 5, 7, 9}));
  CHECK(close(c.run("cumprod", {{"self", x}, {"dim", -1}}), {1, 2, 6, 4, 20, 120}));
  CHECK(close(c.run("cumsum", {{"self", c.tensor(DType::u8, {2}, {200, 100})}, {"dim", 0}}),
              {200, 300}));
  CHECK(close(c.run("cumsum", {{"self", c.tensor(f32, {}, {7})}, {"dim", 0}}), {7}));
  CHECK(close(c.run("logcumsumexp", {{"self", c.reals({-kInf, 0, 0})}, {"dim", 0}}),
              {-kInf, 0, 0.693147181}));
  const Argument steps = c.reals({2, 3, 3, 1, kNan, 9});
  CHECK(close(c.run("cummax", {{"self", steps}, {"dim", 0}}), {2, 3, 3, 3, kNan, kNan}));
  CHECK(close(c.run("cummax", {{"self", steps}, {"dim", 0}}, 1), {0, 1, 2, 2, 4, 4}));
  CHECK(close(c.run("cummin", {{"self", steps}, {"dim", 0}}, 1), {0, 0, 0, 3, 4, 4}));
}

TEST_CASE("sorting is stable and puts NaN last", "[eval]") {
  OneCall c;
  const Argument x = c.reals({3, kNan, 1, 3, -kInf});
  CHECK(close(c.run("sort", {{"self", x}}), {-kInf, 1, 3, 3, kNan}));
  CHECK(close(c.run("sort", {{"self", x}}, 1), {4, 2, 0, 3, 1}));
  CHECK(close(c.run("sort.stable", {{"self", x}, {"stable", true}, {"descending", true}}, 1),
              {1, 0, 3, 2, 4}));
  const Argument table = c.tensor(DType::i32, {2, 2}, {4, 1, 3, 2});
  CHECK(close(c.run("sort", {{"self", table}, {"dim", 0}}), {3, 1, 4, 2}));
  CHECK(close(c.run("msort", {{"self", table}}), {3, 1, 4, 2}));
  CHECK(close(c.run("argsort", {{"self", table}, {"descending", true}}), {0, 1, 0, 1}));
  CHECK(close(c.run("topk", {{"self", x}, {"k", 2}}), {kNan, 3}));
  CHECK(
      close(c.run("topk", {{"self", table}, {"k", 1}, {"dim", 0}, {"largest", false}}, 1), {1, 0}));
  CHECK(close(c.run("kthvalue", {{"self", x}, {"k", 2}}), {1}));
  const double big = 9007199254740992;  // where doubles stop telling integers apart
  CHECK(close(c.run("sort", {{"self", c.integers({big + 2, big})}}, 1), {1, 0}));
  CHECK(close(c.run("sort", {{"self", c.tensor(f32, {}, {7})}}, 1), {0}));
}

TEST_CASE("medians and modes", "[eval]") {
  OneCall c;
  const Argument x = c.reals({4, 1, 3, 2});
  const Argument holes = c.reals({kNan, 1, 3, 2});
  CHECK(close(c.run("median", {{"self", x}}), {2}));
  CHECK(close(c.run("median", {{"self", holes}}), {kNan}));
  CHECK(close(c.run("nanmedian", {{"self", holes}}), {2}));
  CHECK(close(c.run("median.dim", {{"self", holes}, {"dim", 0}}, 1), {0}));
  CHECK(close(c.run("nanmedian.dim", {{"self", holes}, {"dim", 0}}, 1), {3}));
  CHECK(close(c.run("median", {{"self", c.reals({})}}), {kNan}));
  const Argument often = c.reals({2, 1, 2, 1, 3});
  CHECK(close(c.run("mode", {{"self", often}}, 0), {1}));
  CHECK(close(c.run("mode", {{"self", often}}, 1), {3}));
}

TEST_CASE("searches in sorted sequences", "[eval]") {
  OneCall c;
  const Argument edges = c.reals({1, 3, 5});
  const Argument x = c.reals({0, 1, 4, 5, 9, kNan});
  CHECK(close(c.run("bucketize.Tensor", {{"self", x}, {"boundaries", edges}}), {0, 0, 2, 2, 3, 3}));
  CHECK(close(c.run("bucketize.Tensor", {{"self", x}, {"boundaries", edges}, {"right", true}}),
              {0, 1, 2, 3, 3, 3}));
  CHECK(close(c.run("searchsorted.Tensor", {{"sorted_sequence", c.reals({5, 1, 3})},
                                            {"self", x},
                                            {"sorter", c.integers({1, 2, 0})}}),
              {0, 0, 2, 2, 3, 3}));
  CHECK(close(c.run("searchsorted.Scalar", {{"sorted_sequence", edges}, {"self", 4}}), {2}));
  CHECK(close(
      c.run("isin.Tensor_Tensor", {{"elements", x}, {"test_elements", c.reals({5, kNan, 0})}}),
      {1, 0, 0, 1, 0, 0}));
  CHECK(close(c.run("isin.Tensor_Scalar", {{"elements", x}, {"test_element", 4}, {"invert", true}}),
              {1, 1, 0, 1, 1, 1}));
}

TEST_CASE("distinct values, and graphs that do not fit them", "[eval]") {
  OneCall c;
  const Argument x = c.reals({3, 1, 3, 2, 1});
  const auto f = [](Shape shape) { return make_type(f32, std::move(shape)); };
  const auto i = [](Shape shape) { return make_type(DType::i64, std::move(shape)); };
  const Named all = {{"self", x}, {"return_inverse", true}, {"return_counts", true}};
  const std::vector<TensorType> types = {f({3}), i({5}), i({3})};
  CHECK(close(c.run("_unique2", all, types, 0), {1, 2, 3}));
  CHECK(close(c.run("_unique2", all, types, 1), {2, 0, 2, 1, 0}));
  CHECK(close(c.run("_unique2", all, types, 2), {2, 1, 2}));
  CHECK(close(
      c.run("unique_consecutive", {{"self", c.reals({1, 1, 2, 1})}}, {f({3}), i({0}), i({0})}),
      {1, 2, 1}));
  const Argument rows = c.tensor(f32, {3, 2}, {2, 1, 1, 5, 2, 1});
  CHECK(close(c.run("unique_dim", {{"self", rows}, {"dim", 0}}, {f({2, 2}), i({3}), i({0})}),
              {1, 5, 2, 1}));
  CHECK(close(c.run("bincount", {{"self", c.integers({1, 3, 1})}}, {i({4})}), {0, 2, 0, 1}));
  const NodeId wrong = c.builder.append("_unique2", all, {f({2}), i({5}), i({2})});
  CHECK(c.error_text(wrong).find("3 distinct") != std::string::npos);
  const NodeId negative = c.builder.append("bincount", {{"self", c.integers({-1})}}, {i({1})});
  CHECK(c.error_text(negative).find("not negative") != std::string::npos);
}

TEST_CASE("histograms", "[eval]") {
  OneCall c;
  const Argument x = c.reals({0, 1, 2, 4, kNan});
  CHECK(close(c.run("histc", {{"self", x}, {"bins", 4}, {"min", 0}, {"max", 4}}), {1, 1, 1, 1}));
  CHECK(close(c.run("histc", {{"self", c.reals({2, 2})}, {"bins", 2}}), {0, 2}));
  const Argument y = c.reals({0, 1, 2, 4});
  CHECK(close(c.run("histogram.bin_ct", {{"self", y}, {"bins", 2}}, 0), {2, 2}));
  CHECK(close(c.run("histogram.bin_ct", {{"self", y}, {"bins", 2}}, 1), {0, 2, 4}));
  CHECK(close(c.run("histogram.bins_tensor",
                    {{"self", y}, {"bins", c.reals({0, 1, 4})}, {"weight", c.reals({1, 2, 3, 4})}}),
              {1, 9}));
}

}  // namespace
}  // namespace recut::test
