// recut_conformance: runs every case of a folder of operator samples in the interpreter, and prints
// a table by operator (its command line and exit status: tests/conformance/program.h).
#include <iostream>

#include "tests/conformance/conformance.h"
#include "tests/conformance/program.h"

int main(int argc, char** argv) {
  using namespace recut::conformance;
  int status = 0;
  const auto request = read_request(argc, argv, std::cout, status);
  if (!request) return status;
  const auto results = run_folder(request->folder, request->filter);
  print_table(std::cout, results, request->all);
  return judge(*request, "values", findings_of(results), std::cout);
}
