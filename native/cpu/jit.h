// Object code to functions of this process, by LLVM's ORC. Nothing of LLVM shows outside.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::cpu {

class Jit {
 public:
  // Object code for this machine (object_code.h). The C library's functions that it calls are found
  // in this process. Fails where it is no object (the message is LLVM's).
  static Result<Jit> load(std::string_view object);

  // LLVM IR text, compiled for this machine and loaded. Fails as both do.
  static Result<Jit> compile(std::string_view text);

  Jit(Jit&& other) noexcept;
  Jit& operator=(Jit&& other) noexcept;
  ~Jit();

  // The function of that name, which the code has to have.
  void* find(std::string_view symbol) const;

 private:
  struct Engine;
  explicit Jit(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace recut::cpu
