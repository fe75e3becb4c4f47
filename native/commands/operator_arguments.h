// The arguments that name one call of an operator: its name, --inputs, --set.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "engine/support/result.h"
#include "native/operators/operator_call.h"

namespace recut::native {

struct OperatorArguments {
  std::string name;
  std::vector<std::string> inputs, settings;

  // --inputs and --set; the command adds the option of the name.
  void add_to(CLI::App& command);
  Result<operators::OperatorCall> read() const;
};

// The grammar of arguments, for the end of a help text.
extern const char* const kArgumentGrammar;

}  // namespace recut::native
