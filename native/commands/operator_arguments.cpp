#include "native/commands/operator_arguments.h"

#include "native/operators/given_arguments.h"

namespace recut::native {
namespace {

constexpr int kMaxInputs = 256;

}  // namespace

const char* const kArgumentGrammar =
    "An argument is a tensor (f32[2, 3], with strides f32[2, 3]{1, 2}, and 'on cuda' or 'grad' "
    "after it), a number, true, false, none, a dtype (bf16), a string or a list ([1, 2]).";

// A list in brackets is one argument: CLI11 would divide it where it takes extra arguments.
void OperatorArguments::add_to(CLI::App& command) {
  command
      .add_option("--inputs", inputs, "Arguments by position, in the schema's order: one or more")
      ->expected(1, kMaxInputs)
      ->allow_extra_args(false)
      ->type_name("ARGUMENT");
  command.add_option("--set", settings, "Arguments by name, such as alpha=2: one or more")
      ->expected(1, kMaxInputs)
      ->allow_extra_args(false)
      ->type_name("NAME=ARGUMENT");
}

Result<operators::OperatorCall> OperatorArguments::read() const {
  auto given = operators::read_arguments(inputs, settings);
  if (!given) return given.diagnostics();
  return operators::resolve_call(name, std::move(*given));
}

}  // namespace recut::native
