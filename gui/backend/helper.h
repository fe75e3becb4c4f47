// A second copy of the program that works beside this one where it may have no threads: a page's
// worker. It knows the files that it is given and nothing else; tasks and replies are bytes (see
// jobs/worker_requests.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace recut::gui {

// A graph's file. A helper opens it once and knows it by its serial number, which is never used for
// another.
struct HelperFile {
  int serial = 0;
  std::string path;
  std::shared_ptr<const std::string> bytes;
};

struct HelperReply {
  enum State {
    kFound,  // `bytes` are a part of the result
    kFell,   // the helper is gone, with the worker request; `bytes` say why
    kNone,   // there can't be a helper here
  };
  int request_id = 0;
  State state = kFound;
  std::string bytes;
};

class Helper {
 public:
  virtual ~Helper() = default;
  // `urgent`: it doesn't wait for requests that are not.
  virtual void begin(int request_id, bool urgent, const HelperFile& file,
                     std::string_view task) = 0;
  // Ends a request: no reply to it comes any more.
  virtual void end(int request_id) = 0;
  // Closes the file of that serial number.
  virtual void close(int serial) = 0;
  // The replies since the last call; the backend wakes the window for them.
  virtual std::vector<HelperReply> take_replies() = 0;
};

}  // namespace recut::gui
