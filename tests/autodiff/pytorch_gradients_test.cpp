// Gradients of the tiny graphs against PyTorch's. recut_gradients (tests/conformance) compares
// those of its operator samples.
#include <catch2/catch_test_macros.hpp>

#include "tests/conformance/gradients.h"
#include "tests/paths.h"

namespace recut::conformance {
namespace {

TEST_CASE("gradients of the tiny graphs are PyTorch's", "[autodiff]") {
  for (const std::string name : {"tiny_mlp", "tiny_lm", "tiny_conv", "tiny_lstm", "tiny_ops"}) {
    DYNAMIC_SECTION(name) {
      const GradientCase found = check_gradients(RECUT_SOURCE_DIR "/samples/joint/" + name);
      INFO(found.detail);
      CHECK(found.verdict == GradientVerdict::agrees);
    }
  }
}

}  // namespace
}  // namespace recut::conformance
