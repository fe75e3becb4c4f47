// Whether a result is a failure whose message has some words.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"

template <class T>
bool fails_with(const recut::Result<T>& result, std::string_view words) {
  return !result.ok() && format(result.diagnostics()).find(words) != std::string::npos;
}
