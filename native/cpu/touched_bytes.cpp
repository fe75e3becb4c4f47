#include "native/cpu/touched_bytes.h"

#include <algorithm>

namespace recut::cpu {

Result<std::int64_t> touched_bytes(Run& run, std::uint64_t seed) {
  std::int64_t most = 0;
  for (const auto paint : {std::byte{0x5a}, std::byte{0xa5}}) {
    run.arena().fill(paint);
    if (auto done = run.run(seed); !done) return done.diagnostics();
    std::int64_t end = run.arena().bytes();
    while (end > most && run.arena().data()[end - 1] == paint) --end;
    most = std::max(most, end);
  }
  return most;
}

}  // namespace recut::cpu
