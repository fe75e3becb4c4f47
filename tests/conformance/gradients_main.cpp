// recut_gradients: the gradients of every case of a folder of operator samples, Recut's against
// PyTorch's (its command line and exit status: tests/conformance/program.h).
#include <iostream>

#include "tests/conformance/gradients.h"
#include "tests/conformance/program.h"

int main(int argc, char** argv) {
  using namespace recut::conformance;
  int status = 0;
  const auto request = read_request(argc, argv, std::cout, status);
  if (!request) return status;
  const auto cases = check_gradient_folder(request->folder, request->filter);
  print_gradients(std::cout, cases);
  return judge(*request, "gradients", findings_of(cases), std::cout);
}
