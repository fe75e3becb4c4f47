// The comparison of a run with its list of exceptions.
#include "tests/conformance/exceptions.h"

#include <catch2/catch_test_macros.hpp>

namespace recut::conformance {
namespace {

ExceptionList exception_list(std::string_view text) {
  const auto list = parse_exceptions(text, "list.txt");
  REQUIRE(list.ok());
  return *list;
}

Finding agreeing_finding(const std::string& name) { return {name, "agrees", true, ""}; }
Finding differing_finding(const std::string& name) {
  return {name, "disagrees", false, "output 0: 1"};
}

const std::string kExceptions =
    "# Why these differ.\n"
    "\n"
    "values svd-1 disagrees a sign hangs on the last bit\n"
    "gradients add-0 no_rule nobody asked\n";

TEST_CASE("a run is as expected where exactly the listed cases differ", "[conformance]") {
  CHECK(surprises({agreeing_finding("add-0"), differing_finding("svd-1")},
                  exception_list(kExceptions), "values")
            .empty());
}

TEST_CASE("a case that newly fails is a surprise", "[conformance]") {
  const auto found = surprises({differing_finding("add-0"), differing_finding("svd-1")},
                               exception_list(kExceptions), "values");
  CHECK(found ==
        std::vector<std::string>{"add-0: expected no difference, found disagrees: output 0: 1"});
}

TEST_CASE("a case that newly passes is a surprise", "[conformance]") {
  const auto found = surprises({agreeing_finding("svd-1")}, exception_list(kExceptions), "values");
  CHECK(found == std::vector<std::string>{"svd-1: expected disagrees (list.txt:3), found agrees"});
}

TEST_CASE("a case that differs by another verdict is a surprise", "[conformance]") {
  const auto found =
      surprises({{"svd-1", "refused", false, "no svd"}}, exception_list(kExceptions), "values");
  CHECK(found ==
        std::vector<std::string>{"svd-1: expected disagrees (list.txt:3), found refused: no svd"});
}

TEST_CASE("an exception without a case is a surprise", "[conformance]") {
  const auto found = surprises({agreeing_finding("add-0")}, exception_list(kExceptions), "values");
  CHECK(found ==
        std::vector<std::string>{"svd-1: expected disagrees (list.txt:3), found no such case"});
}

TEST_CASE("a filter passes over the exceptions of other cases", "[conformance]") {
  CHECK(
      surprises({agreeing_finding("add-0")}, exception_list(kExceptions), "values", "add").empty());
}

TEST_CASE("a list names a check, a case, a verdict and a reason, each case once", "[conformance]") {
  const auto list = parse_exceptions(
      "values svd-1 disagrees\n"
      "value svd-1 disagrees a sign\n"
      "values svd-1 disagrees a sign\n"
      "values svd-1 refused a sign\n",
      "list.txt");
  REQUIRE_FALSE(list.ok());
  CHECK(format(list.diagnostics()) ==
        "list.txt:1:1: error: expected a check, a case, a verdict and a reason\n"
        "list.txt:2:1: error: the check 'value' found, expected 'values' or 'gradients'\n"
        "list.txt:4:1: error: an earlier line has the values of svd-1\n");
}

}  // namespace
}  // namespace recut::conformance
