// Diagnostics of calls without a derivative: they begin with the call's name.
#include <catch2/catch_test_macros.hpp>

#include "engine/autodiff/differentiate.h"
#include "tests/input/parse.h"

namespace recut {
namespace {

std::string diagnostics_of(const std::string& lines) {
  const auto joint = differentiate(parse("graph \"g\" {\n" + lines + "\n}\n"));
  INFO(lines);
  REQUIRE_FALSE(joint.ok());
  return joint.diagnostics().front().message;
}

TEST_CASE("a derivative that can't be written names the call", "[autodiff]") {
  CHECK(
      diagnostics_of("  %x = parameter f32[8]\n  %s = slice.Tensor(%x, 0, 3, 8)\n"
                     "  %y = as_strided(%s, [2], [1], 2)\n  results %y") ==
      "the derivative of %y (as_strided): a view of elements that self itself doesn't show has no "
      "derivative rule");
  CHECK(diagnostics_of("  %x = parameter f32[4, 3]\n  %v = parameter f32[2, 1]\n"
                       "  %m = input bool[4]\n  %i = input i64[2, 1]\n"
                       "  %y = index_put(%x, [%m, %i], %v)\n  results %y")
            .find("the derivative of %y (index_put): values that vary along an index") == 0);
}

}  // namespace
}  // namespace recut
