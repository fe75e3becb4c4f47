// A helper in this process, for tests.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "gui/jobs/worker_requests.h"

namespace recut::gui {

// A page's worker, in this process: it serves a worker request each time that replies are taken.
class NearHelper : public Helper {
 public:
  explicit NearHelper(Executor* executor = nullptr) : server_(executor) {}

  void begin(int request_id, bool, const HelperFile& file, std::string_view task) override {
    ++begun;
    server_.open(file.serial, file.path, *file.bytes);
    waiting_.push_back({request_id, file.serial, std::string(task)});
  }
  void end(int request_id) override {
    ++ended;
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it)
      if (it->request_id == request_id) {
        waiting_.erase(it);
        return;
      }
  }
  void close(int serial) override { server_.close(serial); }
  bool knows(int serial) const { return server_.knows(serial); }
  std::vector<HelperReply> take_replies() override {
    std::vector<HelperReply> replies;
    if (waiting_.empty() || asleep) return replies;
    const Waiting one = waiting_.front();
    waiting_.pop_front();
    if (answer != HelperReply::kFound) return {{one.request_id, answer, "the helper is gone"}};
    server_.serve(one.serial, one.task, [&](std::string bytes) {
      replies.push_back({one.request_id, HelperReply::kFound, std::move(bytes)});
    });
    return replies;
  }

  int begun = 0, ended = 0;
  bool asleep = false;
  HelperReply::State answer = HelperReply::kFound;

 private:
  struct Waiting {
    int request_id = 0, serial = 0;
    std::string task;
  };
  std::deque<Waiting> waiting_;
  WorkerServer server_;
};

}  // namespace recut::gui
