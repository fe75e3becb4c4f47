#include "native/interrupt.h"

#include <csignal>

namespace recut::native {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = false;
  before_ = std::signal(SIGINT, on_interrupt);
}

Interrupt::~Interrupt() { std::signal(SIGINT, before_); }

const std::atomic<bool>* Interrupt::flag() const { return &interrupted; }

}  // namespace recut::native
