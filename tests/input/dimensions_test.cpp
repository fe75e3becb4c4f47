// Sizes of a model's open dimensions as words.
#include "engine/input/dimensions.h"

#include <catch2/catch_test_macros.hpp>

namespace recut {

TEST_CASE("dimensions: there and back") {
  const Dimensions sizes{{"batch", 2}, {"floor(a, 2)", 7}, {"input.0", 1}};
  CHECK(write_dimensions(sizes) == "batch=2,floor(a, 2)=7,input.0=1");
  CHECK(*read_dimensions(write_dimensions(sizes)) == sizes);
  CHECK(read_dimensions("")->empty());
  CHECK(*read_dimensions("a=b=3") == Dimensions{{"a=b", 3}});
  CHECK(*read_dimensions("batch=0,") == Dimensions{{"batch", 0}});
}

TEST_CASE("dimensions: what is no size is refused") {
  for (const char* text : {"batch", "=1", "batch=", "batch=-1", "batch=1.5", "batch=x,tokens=1",
                           "batch=99999999999999999999", "batch=1,tokens"})
    CHECK_FALSE(read_dimensions(text).ok());
  CHECK(read_dimensions("batch=x").diagnostics().front().message ==
        "'batch=x': expected a dimension's name and its size, as batch=1");
}

}  // namespace recut
