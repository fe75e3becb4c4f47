// Kept operators: recut_operators_open, recut_operator_find, recut_operator_run.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "native/c_api/attempt.h"
#include "native/c_api/options.h"
#include "native/operators/kernel_json.h"

struct recut_operators {
  recut::operators::OperatorStore store;
};

struct recut_operator {
  recut::operators::CallFacts facts;
  recut::operators::KeptKernel kept;
  recut::operators::Kernel kernel;
};

namespace {

using recut::c_api::attempt;
using recut::c_api::fail;
using recut::c_api::give_text;

// This library has a build of its own, so it takes kernels of each build of its version.
recut_status open_store(const char* directory, recut_operators** operators, char** error) {
  recut::cache::StoreOptions options;
  if (directory != nullptr) {
    options.directory = directory;
  } else {
    auto usual = recut::cache::default_store_options();
    if (!usual) return fail(RECUT_BAD_OPTION, usual.diagnostics(), error);
    options = std::move(*usual);
  }
  options.build.clear();
  *operators = new recut_operators{recut::operators::OperatorStore(std::move(options))};
  return RECUT_OK;
}

recut_status find_kernel(const recut_operators& operators, const char* name,
                         const char* arguments_json, recut_operator** found, char** error) {
  if (name == nullptr) return fail(RECUT_BAD_OPTION, "the operator's name is null", error);
  const auto options = recut::c_api::read_call_options(arguments_json);
  if (!options) return fail(RECUT_BAD_OPTION, options.diagnostics(), error);
  auto given = recut::operators::read_arguments(options->inputs, options->settings);
  if (!given) return fail(RECUT_BAD_OPTION, given.diagnostics(), error);
  const auto call = recut::operators::resolve_call(name, std::move(*given));
  if (!call) return fail(RECUT_BAD_OPTION, call.diagnostics(), error);
  recut::operators::CallFacts facts = facts_of(*call);
  auto lookup = operators.store.find(facts);
  if (!lookup.kernel) return fail(RECUT_NOT_KEPT, lookup.miss.reason, error);
  auto kernel = recut::operators::Kernel::load(*lookup.kernel, *call);
  if (!kernel) return fail(RECUT_NOT_KEPT, kernel.diagnostics(), error);
  *found = new recut_operator{std::move(facts), std::move(*lookup.kernel), std::move(*kernel)};
  return RECUT_OK;
}

long long bytes_at(const std::vector<recut::operators::KernelTensor>& tensors, size_t number) {
  return number < tensors.size() ? tensors[number].bytes : -1;
}

}  // namespace

recut_status recut_operators_open(const char* directory, recut_operators** operators,
                                  char** error) {
  *operators = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] { return open_store(directory, operators, error); });
}

void recut_operators_free(recut_operators* operators) { delete operators; }

recut_status recut_operator_find(const recut_operators* operators, const char* name,
                                 const char* arguments_json, recut_operator** found, char** error) {
  *found = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error,
                 [&] { return find_kernel(*operators, name, arguments_json, found, error); });
}

void recut_operator_free(recut_operator* found) { delete found; }

recut_status recut_operator_json(const recut_operator* found, char** json, char** error) {
  *json = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    const auto text = kernel_json(found->facts, found->kept, found->kernel);
    return give_text(
        text.dump(2, ' ', false, recut::operators::Json::error_handler_t::replace) + "\n", json);
  });
}

size_t recut_operator_inputs(const recut_operator* found) { return found->kernel.inputs().size(); }

size_t recut_operator_outputs(const recut_operator* found) {
  return found->kernel.outputs().size();
}

long long recut_operator_input_bytes(const recut_operator* found, size_t number) {
  return bytes_at(found->kernel.inputs(), number);
}

long long recut_operator_output_bytes(const recut_operator* found, size_t number) {
  return bytes_at(found->kernel.outputs(), number);
}

recut_status recut_operator_run(const recut_operator* found, const void* const* inputs,
                                void* const* outputs, unsigned long long seed, char** error) {
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    const auto& kernel = found->kernel;
    const auto done = kernel.run(std::span(inputs, kernel.inputs().size()),
                                 std::span(outputs, kernel.outputs().size()), seed);
    return done ? RECUT_OK : fail(RECUT_BAD_INPUT, done.diagnostics(), error);
  });
}
