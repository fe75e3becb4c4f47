// recut_gradients [FOLDER [FILTER]]: the gradients of every case of a folder of operator samples
// (default: ../shared/opinfo beside the checkout), Recut's against PyTorch's. Exit 1 where fewer
// than 90 % of the cases with a backward agree.
#include <iostream>

#include "tests/conformance/gradients.h"
#include "tests/paths.h"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : RECUT_SOURCE_DIR "/../shared/opinfo";
  const auto cases = recut::conformance::check_gradient_folder(folder, argc > 2 ? argv[2] : "");
  recut::conformance::print_gradients(std::cout, cases);
  return recut::conformance::percent_agreeing(cases) >= 90 ? 0 : 1;
}
