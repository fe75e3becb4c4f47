// recut_tests [--in PATH]... [Catch2's options]: every test case in one program. PATH is a folder
// of tests/ or a source there without its ending ("partition", "eval/view_test"): only cases that
// stand in it run, in one process.
#include <algorithm>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_registry_hub.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace recut::test {
namespace {

// "eval/view_test" of ".../tests/eval/view_test.cpp".
std::string_view place_of(const Catch::TestCaseInfo& test) {
  std::string_view file = test.lineInfo.file;
  constexpr std::string_view folder = "tests/", ending = ".cpp";
  if (const std::size_t at = file.rfind(folder); at != std::string_view::npos)
    file.remove_prefix(at + folder.size());
  if (file.ends_with(ending)) file.remove_suffix(ending.size());
  return file;
}

bool stands_in(std::string_view place, std::string_view path) {
  return place == path || (place.starts_with(path) && place.substr(path.size()).starts_with('/'));
}

// A name as Catch2's filters take it literally.
std::string literal(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (std::string_view("\\\",[]*~").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + '"';
}

// Adds the names of the cases in `path` to a filter; how many there are.
std::size_t add_cases(const std::string& path, std::string& filter) {
  std::size_t found = 0;
  for (const Catch::TestCaseHandle& test :
       Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    const Catch::TestCaseInfo& info = test.getTestCaseInfo();
    if (!stands_in(place_of(info), path)) continue;
    if (!filter.empty()) filter += ',';
    filter += literal(info.name);
    ++found;
  }
  return found;
}

int run(int argc, char** argv) {
  Catch::Session session;
  std::vector<std::string> paths;
  session.cli(session.cli() | Catch::Clara::Opt(paths, "path")["--in"](
                                  "run the cases that stand in this folder or source of tests/"));
  if (const int code = session.applyCommandLine(argc, argv); code != 0) return code;
  std::string filter;
  for (const std::string& path : paths)
    if (add_cases(path, filter) == 0) {
      std::cerr << "recut_tests: no test case stands in tests/" << path
                << "; a folder, or a source without .cpp, is expected\n";
      return 1;
    }
  if (!filter.empty()) session.configData().testsOrTags = {filter};
  return session.run();
}

}  // namespace
}  // namespace recut::test

int main(int argc, char** argv) { return recut::test::run(argc, argv); }
