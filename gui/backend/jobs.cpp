#include "gui/backend/jobs.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace recut::gui {

namespace {

constexpr std::chrono::milliseconds kBetweenReports(250);  // a frame may take time from the job
constexpr int kMinWorkers = 3, kMaxWorkers = 16;

// One more than cores: a worker that waits for the first of several results mostly sleeps.
int workers_for(int cores) {
  if (cores <= 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores + 1, kMinWorkers, kMaxWorkers);
}

}  // namespace

// All jobs are in one list, in the order of their start, under one mutex. A free worker takes the
// first waiting job of the highest priority. Worker 0 takes only jobs that come first, worker 1
// urgent ones as well: a long job never blocks these. A job returns to the list after each part,
// where urgent ones pass it. Jobs that measure wait until the last change is drawn, and never run
// beside a background job.
struct Jobs::Running : JobControl {
  Job job;
  JobStatus status;  // under mutex_
  std::atomic<bool> stop{false};
  bool away = false;  // a worker request that the helper is on
  Jobs* jobs = nullptr;
  std::chrono::steady_clock::time_point reported_at;  // when it said last how far it is

  const std::atomic<bool>& cancelled() const override { return stop; }

  void progress(double fraction, std::string text) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - reported_at < kBetweenReports) return;
    reported_at = now;
    {
      const std::lock_guard lock(jobs->mutex_);
      status.fraction = fraction;
      status.text = std::move(text);
    }
    jobs->news_ = true;
    jobs->wake_();
  }

  void measuring(bool now) override {
    {
      const std::lock_guard lock(jobs->mutex_);
      status.measuring = now;
    }
    if (!now) jobs->wake_();
  }

  void post(std::function<void()> message) override {
    {
      const std::lock_guard lock(jobs->mutex_);
      for (const auto& one : jobs->jobs_)
        if (one.get() == this) {
          jobs->messages_.push_back({one, std::move(message)});
          break;
        }
    }
    jobs->wake_();
  }
};

Jobs::Jobs(bool threads, std::function<void()> wake, Helper* helper, int cores)
    : threads_(threads), wake_(std::move(wake)), helper_(threads ? nullptr : helper) {
  if (!threads_) return;
  const int workers = workers_for(cores);
  for (int i = 0; i < workers; ++i) {
    const JobPriority least = i == 0   ? JobPriority::first
                              : i == 1 ? JobPriority::urgent
                                       : JobPriority::later;
    workers_.emplace_back([this, least] { work(least); });
  }
}

Jobs::~Jobs() {
  cancel_all();
  if (helper_ != nullptr) send_worker_requests();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

JobId Jobs::start(Job job) {
  auto running = std::make_shared<Running>();
  running->jobs = this;
  {
    const std::lock_guard lock(mutex_);
    running->status = {++last_, job.owner, job.title, {}, -1, false, job.quiet, false};
    if (job.measures) drawn_ = false;  // that it began is a change, too
    running->job = std::move(job);
    jobs_.push_back(running);
  }
  news_ = true;
  changed_.notify_all();
  wake_();
  return running->status.id;
}

void Jobs::cancel(JobId id) {
  cancel_where([&](const JobStatus& status) { return status.id == id; });
}

void Jobs::cancel_owned_by(int owner) {
  cancel_where([&](const JobStatus& status) { return status.owner == owner; });
  if (helper_ != nullptr) {
    send_worker_requests();
    helper_->close(owner);
  }
}

void Jobs::cancel_all() {
  cancel_where([](const JobStatus&) { return true; });
}

// Includes jobs that are over but whose messages still wait.
void Jobs::cancel_where(const std::function<bool(const JobStatus&)>& chosen) {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_)
    if (chosen(job->status)) job->stop = true;
  for (const Message& message : messages_)
    if (chosen(message.from->status)) message.from->stop = true;
  news_ = true;
}

bool Jobs::idle() const {
  const std::lock_guard lock(mutex_);
  return messages_.empty() &&
         std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->stop.load(); });
}

bool Jobs::is_alive(JobId id) const {
  const auto is_it = [id](const Running& job) { return job.status.id == id && !job.stop; };
  const std::lock_guard lock(mutex_);
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return is_it(*job); }) ||
         std::any_of(messages_.begin(), messages_.end(),
                     [&](const Message& message) { return is_it(*message.from); });
}

bool Jobs::measuring() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [](const auto& job) { return job->status.measuring && !job->stop; });
}

void Jobs::let_measure(bool drawn) {
  {
    const std::lock_guard lock(mutex_);
    if (drawn_ == drawn) return;
    drawn_ = drawn;
  }
  if (drawn) changed_.notify_all();
}

Jobs::JobPriority Jobs::priority_of(const Job& job) {
  return job.first ? JobPriority::first : job.urgent ? JobPriority::urgent : JobPriority::later;
}

// Of background jobs, a measuring one runs alone. Call it under mutex_.
bool Jobs::is_disturbed(const Running& job) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& other) {
    const bool runs = other->status.running && !other->away && other.get() != &job;
    return runs && priority_of(other->job) == JobPriority::later &&
           (job.job.measures || other->job.measures);
  });
}

std::vector<JobStatus> Jobs::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobStatus> all;
  for (const auto& job : jobs_)
    if (!job->stop) all.push_back(job->status);
  return all;
}

bool Jobs::resting() const {
  const std::lock_guard lock(mutex_);
  return messages_.empty() && replies_.empty() &&
         std::all_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& job) { return threads_ || (job->away && !job->stop); });
}

bool Jobs::deliver(double seconds) {
  const auto began = std::chrono::steady_clock::now();
  const auto over = [&] {
    return std::chrono::steady_clock::now() - began >= std::chrono::duration<double>(seconds);
  };
  if (helper_ != nullptr) {
    send_worker_requests();
    take_replies(over);
  }
  if (!threads_) {
    do {
      const auto job = next(JobPriority::later);
      if (!job) break;
      run_part(job);
    } while (!over());
  }
  return run_messages(over) || news_.exchange(false);
}

// In order, one at least; the others wait for the next call if time is up. Messages that they post
// do, too.
bool Jobs::run_messages(const std::function<bool()>& over) {
  std::size_t waiting = [&] {
    const std::lock_guard lock(mutex_);
    return messages_.size();
  }();
  const bool any = waiting > 0;
  for (; waiting > 0; --waiting) {
    const Message message = [&] {
      const std::lock_guard lock(mutex_);
      Message first = std::move(messages_.front());
      messages_.pop_front();
      return first;
    }();
    if (!message.from->stop) message.run();
    if (over()) break;
  }
  return any;
}

// The job to begin: the first waiting job of the highest priority. One that takes times keeps its
// turn while others end. Under mutex_.
std::shared_ptr<Jobs::Running> Jobs::choose(JobPriority least) const {
  for (const JobPriority priority : {JobPriority::first, JobPriority::urgent, JobPriority::later}) {
    if (priority > least) break;
    for (const auto& job : jobs_) {
      const bool waits = !job->status.running && priority_of(job->job) == priority;
      if (!waits || (job->job.measures && !drawn_)) continue;
      if (priority != JobPriority::later || !is_disturbed(*job)) return job;
      break;
    }
  }
  return nullptr;
}

// A job that was cancelled while it waited is dropped.
std::shared_ptr<Jobs::Running> Jobs::next(JobPriority least) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(),
                             [](const auto& job) { return job->stop && !job->status.running; }),
              jobs_.end());
  const auto job = choose(least);
  if (job) job->status.running = true;
  return job;
}

void Jobs::run_part(const std::shared_ptr<Running>& job) {
  const bool more = !job->stop && job->job.part(*job);
  if (!more || job->stop) return finish(job);
  {
    const std::lock_guard lock(mutex_);
    job->status.running = job->status.measuring = false;  // urgent ones may come between two parts
  }
  changed_.notify_all();
}

void Jobs::finish(const std::shared_ptr<Running>& job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
  }
  changed_.notify_all();
  news_ = true;
  wake_();
}

// Sends waiting requests to the helper, and cancels cancelled ones.
void Jobs::send_worker_requests() {
  const auto [jobs, drawn] = [&] {
    const std::lock_guard lock(mutex_);
    return std::pair(jobs_, drawn_);
  }();
  for (const auto& job : jobs) {
    if (job->away && job->stop) {
      helper_->end(job->status.id);
      finish(job);
    } else if (!job->away && !job->stop && !job->status.running && job->job.worker_request &&
               (drawn || !job->job.measures)) {
      job->away = job->status.running = true;
      const WorkerRequest& worker_request = *job->job.worker_request;
      helper_->begin(job->status.id, job->job.urgent, worker_request.file, worker_request.task());
    }
  }
}

void Jobs::take_replies(const std::function<bool()>& over) {
  for (HelperReply& reply : helper_->take_replies()) replies_.push_back(std::move(reply));
  while (!replies_.empty()) {
    const HelperReply reply = std::move(replies_.front());
    replies_.pop_front();
    if (reply.state == HelperReply::kNone) return do_without_helper();
    const auto job = find(reply.request_id);
    if (!job || !job->away || job->stop) continue;
    const WorkerRequest& worker_request = *job->job.worker_request;
    if (reply.state == HelperReply::kFell) worker_request.fail(*job, reply.bytes);
    if (reply.state == HelperReply::kFell || !worker_request.take(*job, reply.bytes)) finish(job);
    if (over()) return;
  }
}

// Runs the helper's jobs in slices from now on.
void Jobs::do_without_helper() {
  helper_ = nullptr;
  replies_.clear();
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_)
    if (std::exchange(job->away, false)) job->status.running = false;
}

std::shared_ptr<Jobs::Running> Jobs::find(JobId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const auto& job) { return job->status.id == id; });
  return found == jobs_.end() ? nullptr : *found;
}

void Jobs::work(JobPriority least) {
  while (!ending_) {
    if (const auto job = next(least)) {
      run_part(job);
      continue;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || choose(least) != nullptr; });
  }
}

}  // namespace recut::gui
