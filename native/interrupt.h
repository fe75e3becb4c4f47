// Ctrl-C as a request to stop: long work ends early with its best result.
#pragma once

#include <atomic>

namespace recut::native {

// While it lives, the first Ctrl-C sets the flag; the second ends the program as usual. One at a
// time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>* flag() const;

 private:
  void (*before_)(int);
};

}  // namespace recut::native
