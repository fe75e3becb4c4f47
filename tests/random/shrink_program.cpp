#include <algorithm>

#include "tests/random/random_program.h"

namespace recut::test {
namespace {

using ProgramFails = std::function<bool(const ProgramBody&)>;

template <class See>
void for_each_value(ProgramArgument& argument, See see) {
  if (auto* one = std::get_if<ProgramValue>(&argument)) see(*one);
  if (auto* list = std::get_if<std::vector<ProgramValue>>(&argument))
    for (ProgramValue& item : *list) see(item);
}

bool is_read(ProgramBody& body, std::size_t number) {
  bool read = std::find(body.results.begin(), body.results.end(), number) != body.results.end();
  for (ProgramCall& call : body.calls)
    for (ProgramArgument& argument : call.arguments)
      for_each_value(argument, [&](ProgramValue& value) { read = read || value.number == number; });
  return read;
}

// Readers of the call read its first operand, if `replaced`; else nothing reads it.
std::optional<ProgramBody> without_call(ProgramBody body, std::size_t at, bool replaced) {
  const std::size_t number = body.inputs.size() + at;
  std::size_t operand = number;
  for (ProgramArgument& argument : body.calls[at].arguments)
    if (operand == number)
      for_each_value(argument, [&](ProgramValue& value) { operand = value.number; });
  if (replaced ? operand == number : is_read(body, number)) return std::nullopt;
  const auto moved = [&](std::size_t& value) {
    if (value == number) value = operand;
    if (value > number) --value;
  };
  body.calls.erase(body.calls.begin() + static_cast<std::ptrdiff_t>(at));
  for (ProgramCall& call : body.calls)
    for (ProgramArgument& argument : call.arguments)
      for_each_value(argument, [&](ProgramValue& value) { moved(value.number); });
  for (std::size_t& result : body.results) moved(result);
  return body;
}

// One step of shrinking a body; `accept` takes a smaller one if it still fails.
bool shrink_once(const ProgramBody& body, bool drops_results, const ProgramFails& accept) {
  for (std::size_t i = 0; drops_results && body.results.size() > 1 && i < body.results.size();
       ++i) {
    ProgramBody smaller = body;
    smaller.results.erase(smaller.results.begin() + static_cast<std::ptrdiff_t>(i));
    if (accept(smaller)) return true;
  }
  for (std::size_t i = body.calls.size(); i-- > 0;)
    for (const bool replaced : {false, true})
      if (const auto smaller = without_call(body, i, replaced); smaller && accept(*smaller))
        return true;
  for (std::size_t i = 0; i < body.calls.size(); ++i)
    for (std::size_t k = 0; k < body.calls[i].arguments.size(); ++k) {
      const auto* inner =
          std::get_if<std::shared_ptr<const ProgramBody>>(&body.calls[i].arguments[k]);
      if (inner == nullptr) continue;
      const ProgramFails within = [&](const ProgramBody& smaller) {
        ProgramBody outer = body;
        outer.calls[i].arguments[k] = std::make_shared<const ProgramBody>(smaller);
        return accept(outer);
      };
      if (shrink_once(**inner, false, within)) return true;
    }
  return false;
}

}  // namespace

ProgramBody shrink_program(ProgramBody body, const ProgramFails& fails) {
  const ProgramFails accept = [&](const ProgramBody& smaller) {
    if (!fails(smaller)) return false;
    body = smaller;
    return true;
  };
  for (bool smaller = true; smaller;) smaller = shrink_once(ProgramBody(body), true, accept);
  return body;
}

}  // namespace recut::test
