// A sequence of runs that maintains its peak: inserting or removing a run costs O(log n) for each
// storage it touches, and a log allows changes to be rolled back.
//
// Runs are a linked list with integer labels (order maintenance: Dietz and Sleator 1987). Labels
// have gaps; where a gap is used up, a neighbourhood is relabelled. A MemoryTree keeps the bytes
// alive by label. Invariant: a label between two runs has at most the bytes of the run before it,
// so the tree's maximum is the peak. A plain array would pay O(n) for each of the searches' many
// changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/partition/peak/memory_tree.h"
#include "engine/partition/problem/remat_problem.h"

namespace recut::peak {

using RunId = std::int32_t;
inline constexpr RunId kNoRun = -1;

class Sequence {
 public:
  explicit Sequence(const RematProblem& problem);

  // Replaces all runs.
  void assign(std::span<const std::int32_t> computations);
  std::vector<std::int32_t> computations() const;

  // Inserts a run of `computation` right after `before` (kNoRun: first). Its inputs must have run.
  RunId insert_after(RunId before, std::int32_t computation);

  // Removes a run. If its storages have readers, an earlier run of the computation must exist.
  void remove(RunId run);

  // Moves a run to right after `before`; the order must stay valid.
  RunId move_after(RunId before, RunId run);

  // roll_back(mark) undoes all changes since mark(), newest first, and restores run ids.
  std::size_t mark() const { return log_.size(); }
  void roll_back(std::size_t mark);
  void forget_log() { log_.clear(); }

  const RematProblem& problem() const { return *problem_; }
  std::int64_t peak() const { return tree_.maximum(); }
  std::int64_t duration() const { return duration_; }
  std::int32_t runs() const { return run_count_; }

  // Insertions and removals so far, undone ones included: the unit of search effort.
  std::int64_t work() const { return work_; }
  void charge(std::int64_t work) { work_ += work; }  // for search work that changes no run

  RunId first() const { return first_; }
  RunId last() const { return last_; }
  RunId next(RunId run) const { return runs_[run].next; }
  RunId previous(RunId run) const { return runs_[run].previous; }
  std::int32_t computation(RunId run) const { return runs_[run].computation; }
  std::uint32_t label(RunId run) const { return runs_[run].label; }
  bool before(RunId a, RunId b) const { return runs_[a].label < runs_[b].label; }

  // Runs of one computation, in order.
  RunId first_run(std::int32_t c) const { return first_run_[c]; }
  RunId last_run(std::int32_t c) const { return last_run_[c]; }
  RunId next_same(RunId run) const { return runs_[run].next_same; }
  RunId previous_same(RunId run) const { return runs_[run].previous_same; }
  std::int32_t run_count(std::int32_t c) const { return counts_[c]; }

  // Computations with more than one run, in no particular order.
  std::span<const std::int32_t> repeated() const { return repeated_; }

  // The latest run of `c` before label `limit`; kNoRun if there is none.
  RunId latest_before(std::int32_t c, std::uint32_t limit) const {
    RunId run = last_run_[c];
    while (run != kNoRun && runs_[run].label >= limit) run = runs_[run].previous_same;
    return run;
  }

  // The last run that reads the instance in `slot` of `run`; the run itself if none does.
  RunId last_use(RunId run, std::int32_t slot) const { return last_use_[runs_[run].uses + slot]; }

  // The last reader of that instance before label `limit`, and the first one after it.
  RunId last_use_before(RunId run, std::int32_t slot, std::uint32_t limit) const;
  RunId first_use_after(RunId run, std::int32_t slot, std::uint32_t limit) const;

  // No instance of the run is read.
  bool unused(RunId run) const;

  const MemoryTree& tree() const { return tree_; }
  std::int64_t bytes_at(RunId run) const { return tree_.at(runs_[run].label); }
  // The run at a label that the tree's first_above() returned.
  RunId run_at(std::uint32_t label) const;

  // All run ids are below it.
  std::int32_t id_limit() const { return static_cast<std::int32_t>(runs_.size()); }
  bool alive(RunId run) const { return runs_[run].alive; }

 private:
  struct Run {
    std::int32_t computation;
    std::uint32_t label;
    RunId previous, next;
    RunId previous_same, next_same;  // next_same also links a computation's free runs
    std::int32_t uses;               // index in last_use_ of its first storage's
    bool alive;
  };
  struct Change {
    bool inserted;
    RunId run;                 // of an insertion
    RunId before;              // of a removal: its predecessor
    std::int32_t computation;  // and its computation
  };

  void clear(std::size_t runs);
  RunId new_run(std::int32_t computation);
  RunId link(RunId before, std::int32_t computation);
  void unlink(RunId run);
  RunId insert_unlogged(RunId before, std::int32_t computation);
  void remove_unlogged(RunId run);
  void take_readers(RunId run);
  void give_readers_back(RunId run);
  void relabel(RunId before);
  void enlarge_labels();
  void count_run(std::int32_t computation, std::int32_t change);
  void spread_labels(RunId from, RunId to, std::uint32_t low, std::uint32_t high);

  std::uint32_t limit_of(RunId run) const {  // where the computation's next run takes over
    const RunId next = runs_[run].next_same;
    return next == kNoRun ? tree_.leaves() : runs_[next].label;
  }

  const RematProblem* problem_;
  MemoryTree tree_;
  std::vector<Run> runs_;
  std::vector<RunId> last_use_;
  std::vector<RunId> by_label_;
  std::vector<RunId> first_run_, last_run_, free_run_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> repeated_, repeated_index_;  // and its inverse
  RunId first_ = kNoRun, last_ = kNoRun;
  std::int32_t run_count_ = 0;
  std::int64_t duration_ = 0;
  std::int64_t work_ = 0;
  std::vector<Change> log_;
  std::vector<MemoryTree::Ends> moved_ends_;  // kept for its memory
};

}  // namespace recut::peak
