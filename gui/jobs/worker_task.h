// The bytes of worker requests: the kind of a task, and its replies.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "gui/backend/jobs.h"
#include "gui/jobs/pack.h"

namespace recut::gui {

// Both sides of a worker request. The window's side sends transform settings, the kind of task and
// its arguments. The server opens the document once, works, and sends replies: progress, whether it
// measures, some results, all of them. The `part` of a job does the same work on a thread, so that
// both ways give equal results.
enum class Task : std::uint8_t { plan, sweep, check, schedule, run, train, meshes, bundle };
enum class Reply : std::uint8_t { progress, measuring, some, all };

template <class... T>
std::string packed(const T&... values) {
  Packer pack;
  pack(values...);
  return pack.take();
}

// Takes replies apart: progress, and results by `take`.
template <class T, class Take>
std::function<bool(JobControl&, std::string_view)> reply_taker(Take take) {
  return [take](JobControl& control, std::string_view bytes) {
    Unpacker unpack(bytes);
    const auto kind = unpack.get<Reply>();
    if (kind == Reply::progress) {
      const auto fraction = unpack.get<double>();
      control.progress(fraction, unpack.get<std::string>());
      return true;
    }
    if (kind == Reply::measuring) {
      control.measuring(unpack.get<bool>());
      return true;
    }
    take(control, unpack.result<T>());
    return kind == Reply::some;
  };
}

// The callback of a request whose helper crashed: passes on the error as the result.
template <class Take>
std::function<void(JobControl&, const std::string&)> fall_taker(Take take) {
  return [take](JobControl& control, const std::string& why) { take(control, error(why)); };
}

using Send = std::function<void(std::string)>;

}  // namespace recut::gui
