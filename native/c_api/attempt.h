// The frame of every call of the C library: any failure becomes a status and a message, and ends
// there.
#pragma once

#include <locale.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "engine/support/check.h"
#include "engine/support/result.h"
#include "native/c_api/recut.h"

namespace recut::c_api {

// A copy for the caller, who frees it with recut_text_free; null where memory is missing.
inline char* copy_text(std::string_view text) noexcept {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

inline recut_status fail(recut_status status, std::string_view message, char** error) noexcept {
  if (error != nullptr && *error == nullptr) *error = copy_text(message);
  return status;
}

inline recut_status fail(recut_status status, const Diagnostics& diagnostics, char** error) {
  std::string message = format(diagnostics);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return fail(status, message, error);
}

inline recut_status give_text(std::string_view text, char** out) {
  *out = copy_text(text);
  if (*out == nullptr) throw std::bad_alloc();
  return RECUT_OK;
}

// While it lives, this thread formats and parses numbers with a decimal point, whatever the host's
// locale is.
class CLocaleScope {
 public:
  CLocaleScope() : plain_(newlocale(LC_NUMERIC_MASK, "C", duplocale(uselocale({})))) {
    if (plain_ != locale_t{}) before_ = uselocale(plain_);
  }
  ~CLocaleScope() {
    if (plain_ == locale_t{}) return;
    uselocale(before_);
    freelocale(plain_);
  }
  CLocaleScope(const CLocaleScope&) = delete;
  CLocaleScope& operator=(const CLocaleScope&) = delete;

 private:
  locale_t plain_;
  locale_t before_{};
};

// Runs `work`, which returns a status.
template <class Work>
recut_status attempt(char** error, Work work) noexcept {
  try {
    const ThrowingChecks checks;
    const CLocaleScope numbers;
    return work();
  } catch (const CheckFailure& failure) {
    return fail(RECUT_INTERNAL, failure.message, error);
  } catch (const std::bad_alloc&) {
    return fail(RECUT_OUT_OF_MEMORY, "out of memory", error);
  } catch (const std::exception& exception) {
    return fail(RECUT_INTERNAL, exception.what(), error);
  } catch (...) {
    return fail(RECUT_INTERNAL, "an unknown exception", error);
  }
}

}  // namespace recut::c_api
