// LLVM IR text to functions of this process (LLVM 19, linked in): parsed, checked, optimised for
// the processor that it runs on, and compiled by ORC. Nothing of LLVM shows outside.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::cpu {

class Jit {
 public:
  // Fails where the text is no LLVM IR (Recut's own fault: the message is LLVM's), or this
  // processor is none that LLVM knows.
  static Result<Jit> compile(std::string_view text);

  Jit(Jit&& other) noexcept;
  Jit& operator=(Jit&& other) noexcept;
  ~Jit();

  // The function of that name, which the text has to have.
  void* find(std::string_view symbol) const;

 private:
  struct Engine;
  explicit Jit(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace recut::cpu
