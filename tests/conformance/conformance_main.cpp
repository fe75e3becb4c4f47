// recut_conformance [--all] [FOLDER [FILTER]]: runs every case of a folder of operator samples
// (default: ../shared/opinfo beside the checkout) and prints the table by operator. Exit 1 where
// fewer than 85 % agree, or any case crashes or hangs.
#include <algorithm>
#include <iostream>

#include "tests/conformance/conformance.h"
#include "tests/paths.h"

int main(int argc, char** argv) {
  using recut::conformance::Verdict;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool all = !arguments.empty() && arguments.front() == "--all";
  if (all) arguments.erase(arguments.begin());
  const std::string folder =
      arguments.empty() ? RECUT_SOURCE_DIR "/../shared/opinfo" : arguments.front();
  const auto results =
      recut::conformance::run_folder(folder, arguments.size() > 1 ? arguments[1] : "");
  recut::conformance::print_table(std::cout, results, all);
  const auto count = [&](Verdict verdict) {
    return std::count_if(results.begin(), results.end(),
                         [verdict](const auto& r) { return r.verdict == verdict; });
  };
  const bool sound = count(Verdict::crashed) + count(Verdict::hung) == 0;
  const auto cases = static_cast<std::ptrdiff_t>(results.size());
  return sound && count(Verdict::agrees) * 100 >= cases * 85 ? 0 : 1;
}
