#include <catch2/catch_test_macros.hpp>

#include "tests/eval/gradients.h"

namespace recut::test {
namespace {

TEST_CASE("resampling by every rule", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 3}, {10, 20, 40});
  const auto up = [&](const char* name, std::int64_t size, Named more) {
    more.emplace_back("self", x);
    more.emplace_back("output_size", ints({size}));
    return c.run(name, more);
  };
  CHECK(up("upsample_nearest1d", 6, {}) == List{10, 10, 20, 20, 40, 40});
  CHECK(up("upsample_nearest1d", 4, {}) == List{10, 10, 20, 40});
  CHECK(up("_upsample_nearest_exact1d", 4, {}) == List{10, 20, 20, 40});
  CHECK(up("upsample_linear1d", 5, {{"align_corners", true}}) == List{10, 15, 20, 30, 40});
  CHECK(near(up("upsample_linear1d", 6, {{"align_corners", false}}), {10, 12.5, 17.5, 25, 35, 40},
             1e-12));
  // A factor that is given wins over the ratio of sizes.
  CHECK(up("upsample_nearest1d", 4, {{"scales", 4.0}}) == List{10, 10, 10, 10});
  CHECK(c.run("upsample_nearest1d.vec",
              {{"input", x}, {"output_size", None{}}, {"scale_factors", ArgumentList{2.0}}}) ==
        List{10, 10, 20, 20, 40, 40});
}

TEST_CASE("shrinking with antialiasing keeps the mean", "[eval]") {
  OneCall c;
  const Argument x = c.tensor(f64, {1, 1, 1, 8}, {0, 0, 0, 0, 8, 8, 8, 8});
  const List out = c.run("_upsample_bilinear2d_aa",
                         {{"self", x}, {"output_size", ints({1, 2})}, {"align_corners", false}});
  CHECK(near({out[0] + out[1]}, {8}, 1e-12));
  CHECK(out[0] > 0);  // the filter reaches over the middle
}

TEST_CASE("gradients of resampling", "[eval]") {
  const char* const kNames[] = {"upsample_nearest2d",      "_upsample_nearest_exact2d",
                                "upsample_bilinear2d",     "upsample_bicubic2d",
                                "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"};
  const List x = noise(2 * 4 * 5);
  for (const Shape& size : {Shape{7, 3}, Shape{2, 9}})
    for (const std::string name : kNames) {
      INFO(name);
      const std::int64_t count = 2 * size[0] * size[1];
      const List grad = noise(count, 1);
      const bool corners = name.find("nearest") == std::string::npos;
      Named more{{"output_size", ints({size[0], size[1]})}};
      if (corners) more.emplace_back("align_corners", false);
      const auto f = [&](const List& at) {
        OneCall c;
        Named named = more;
        named.emplace_back("self", c.tensor(f64, {1, 2, 4, 5}, at));
        return c.run(name, named);
      };
      OneCall c;
      Named named = more;
      named.emplace_back("grad_output", c.tensor(f64, {1, 2, size[0], size[1]}, grad));
      named.emplace_back("input_size", ints({1, 2, 4, 5}));
      CHECK(near(c.run(name + "_backward", named), numeric_gradient(f, x, grad)));
    }
}

TEST_CASE("sampling at places", "[eval]") {
  OneCall c;
  const Argument plane = c.tensor(f64, {1, 1, 2, 2}, {1, 2, 3, 4});
  const auto sample = [&](double x, double y, int interpolation, int padding, bool align) {
    return c.run("grid_sampler_2d", {{"input", plane},
                                     {"grid", c.tensor(f64, {1, 1, 1, 2}, {x, y})},
                                     {"interpolation_mode", interpolation},
                                     {"padding_mode", padding},
                                     {"align_corners", align}});
  };
  CHECK(near(sample(0, 0, 0, 0, true), {2.5}));
  CHECK(near(sample(-1, 1, 0, 0, true), {3}));
  CHECK(near(sample(-1, -1, 0, 0, false), {0.25}));  // three of four corners are outside
  CHECK(near(sample(-1, -1, 0, 1, false), {1}));     // the border goes on
  CHECK(near(sample(3, 0, 0, 2, true), {2}));        // mirrored to -1
  CHECK(near(sample(0.9, -0.9, 1, 0, true), {2}));   // the nearest
  CHECK(near(sample(kNan, 0, 0, 0, true), {0}));
}

TEST_CASE("gradients of sampling", "[eval]") {
  const List plane = noise(2 * 4 * 5);
  List grid = noise(2 * 3 * 2, 2);
  for (double& g : grid) g *= 0.8;
  const List grad = noise(2 * 3, 1);
  for (const int interpolation : {0, 2})
    for (const int padding : {0, 1, 2})
      for (const bool align : {false, true}) {
        INFO("interpolation " << interpolation << " padding " << padding << " align " << align);
        const Named modes{{"interpolation_mode", interpolation},
                          {"padding_mode", padding},
                          {"align_corners", align}};
        const auto f = [&](const List& p, const List& g) {
          OneCall c;
          Named named = modes;
          named.emplace_back("input", c.tensor(f64, {1, 2, 4, 5}, p));
          named.emplace_back("grid", c.tensor(f64, {1, 3, 1, 2}, g));
          return c.run("grid_sampler_2d", named);
        };
        const List grid_values(grid.begin(), grid.begin() + 6);
        OneCall c;
        Named named = modes;
        named.emplace_back("input", c.tensor(f64, {1, 2, 4, 5}, plane));
        named.emplace_back("grid", c.tensor(f64, {1, 3, 1, 2}, grid_values));
        named.emplace_back("grad_output", c.tensor(f64, {1, 2, 3, 1}, grad));
        named.emplace_back("output_mask", flags({true, true}));
        CHECK(
            near(c.run("grid_sampler_2d_backward", named, 0),
                 numeric_gradient([&](const List& p) { return f(p, grid_values); }, plane, grad)));
        CHECK(
            near(c.run("grid_sampler_2d_backward", named, 1),
                 numeric_gradient([&](const List& g) { return f(plane, g); }, grid_values, grad)));
      }
}

}  // namespace
}  // namespace recut::test
