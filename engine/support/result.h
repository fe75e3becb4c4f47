// Errors that a user can cause: diagnostics with a source location, the fault and the expectation.
// Functions that can fail return Result<T>, like LLVM's Expected<T>; the engine throws no
// exceptions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/support/check.h"
#include "engine/support/variant_copy.h"

namespace recut {

// One error message with its location. `line` and `column` count from 1; 0 means that there is no
// line (binary files give a byte offset in `message`).
struct Diagnostic {
  std::string message;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

using Diagnostics = std::vector<Diagnostic>;

// `file:line:column: error: message`, one line each, as compilers print them.
std::string format(const Diagnostic& diagnostic);
std::string format(const Diagnostics& diagnostics);

// A value, or the diagnostics that say why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}                        // NOLINT: implicit by design
  Result(Diagnostics diagnostics) : state_(std::move(diagnostics)) {}  // NOLINT
  Result(Diagnostic diagnostic) : state_(Diagnostics{std::move(diagnostic)}) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() {
    RECUT_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  const T& value() const {
    RECUT_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Diagnostics& diagnostics() const {
    RECUT_CHECK(!ok(), "diagnostics() of a good Result");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Diagnostics, MayBeValueless> state_;  // the last is never held
};

// Success without a value.
struct Done {};

// A diagnostic without a location; callers that know the location add it.
inline Diagnostic error(std::string message) { return Diagnostic{std::move(message), {}, 0, 0}; }

}  // namespace recut
