// Long work, off the frame. A job is a function that is called until it says that it is done. It
// posts its findings as messages, which run between two frames. With threads, as many workers run
// the jobs as the machine has cores; one is for the jobs that come first, and one for urgent ones,
// too. Without (a page), some jobs are worker requests of the backend's helper, and the others run
// in slices between frames, in the same order. The findings of a job don't depend on the number of
// workers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/support/result.h"
#include "gui/backend/helper.h"

namespace recut::gui {

using JobId = int;  // 0: none

struct JobStatus {
  JobId id = 0;
  int owner = 0;         // a document's serial number, or 0
  std::string title;     // "Planning resnet50"
  std::string text;      // how far it is: "38 points"
  double fraction = -1;  // 0 … 1; below 0: not known
  bool running = false;  // false: waiting
  bool quiet = false;    // hidden from users
  bool measuring = false;
};

// A job's view of the outside. Usable from the job's own thread only.
class JobControl {
 public:
  virtual ~JobControl() = default;
  // Set once the job is to end; messages that it posts afterwards are dropped.
  virtual const std::atomic<bool>& cancelled() const = 0;
  virtual void progress(double fraction, std::string text) = 0;
  // Tells that the job measures times from now on, or no longer: drawing would disturb it.
  virtual void measuring(bool now) = 0;
  // Runs between two frames on the frame's thread, unless the job was cancelled by then.
  virtual void post(std::function<void()> message) = 0;
};

// A job as the helper does it. Both functions run between two frames.
struct WorkerRequest {
  HelperFile file;                    // the file that it works on
  std::function<std::string()> task;  // asked once, when it begins
  // Takes a reply; true where more will come.
  std::function<bool(JobControl&, std::string_view reply)> take;
  // The helper is gone: nothing more comes.
  std::function<void(JobControl&, const std::string& why)> fail;
};

struct Job {
  std::string title;
  int owner = 0;
  bool urgent = false;  // someone waits for it now
  bool quiet = false;
  // Does a part of the work; true where more is left. Parts should be short where they can.
  std::function<bool(JobControl&)> part;
  std::shared_ptr<const WorkerRequest> worker_request = nullptr;  // null: no helper can do it
  bool measures = false;  // takes times: begins once the pending frames were drawn, and while no
                          // other background job runs
  bool first = false;     // an empty place waits for it: before the urgent ones, never behind them
};

class Jobs {
 public:
  // `wake` is called from workers whenever something was posted.
  // `helper`: null where there is none; of no use with threads. `cores`: 0 for the machine's.
  Jobs(bool threads, std::function<void()> wake, Helper* helper = nullptr, int cores = 0);
  ~Jobs();  // cancels all, and waits

  JobId start(Job job);
  void cancel(JobId id);
  void cancel_owned_by(int owner);  // which is gone
  void cancel_all();

  bool idle() const;     // nothing waits, runs or is posted, except cancelled jobs
  bool resting() const;  // jobs work on other threads alone: nothing to deliver until a wake
  bool helped() const { return helper_ != nullptr; }
  // One of them takes times.
  bool measuring() const;
  // `drawn`: all changes have been drawn. Jobs that measure begin then, and no earlier.
  void let_measure(bool drawn);
  // True if the job waits or works, or if messages that it posted have still to run.
  bool is_alive(JobId id) const;
  std::vector<JobStatus> status() const;

  // Call it between frames: takes replies and runs posted messages; without threads it also works.
  // After `seconds` no reply, message or part is begun but the first of each; the rest waits for
  // the next time. Returns whether anything was posted, or a job began, ended or reported progress.
  bool deliver(double seconds = 0.01);

 private:
  struct Running;
  enum class JobPriority : unsigned char { first, urgent, later };
  static JobPriority priority_of(const Job& job);
  void cancel_where(const std::function<bool(const JobStatus&)>& chosen);
  std::shared_ptr<Running> choose(JobPriority least) const;
  std::shared_ptr<Running> next(JobPriority least);
  void work(JobPriority least);
  void run_part(const std::shared_ptr<Running>& job);
  void finish(const std::shared_ptr<Running>& job);
  void send_worker_requests();
  void take_replies(const std::function<bool()>& over);
  bool run_messages(const std::function<bool()>& over);
  void do_without_helper();
  std::shared_ptr<Running> find(JobId id) const;
  bool is_disturbed(const Running& job) const;

  const bool threads_;
  const std::function<void()> wake_;
  Helper* helper_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Running>> jobs_;  // waiting and running, in order
  struct Message {
    std::shared_ptr<Running> from;
    std::function<void()> run;
  };
  std::deque<Message> messages_;
  std::deque<HelperReply> replies_;  // the frame's thread only
  std::atomic<bool> ending_{false}, news_{false};
  bool drawn_ = true;  // under mutex_
  JobId last_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace recut::gui
