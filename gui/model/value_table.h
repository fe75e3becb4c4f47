// The table of values: the values that a plan chooses among, the plan's choice for each, and the
// bytes and time that the opposite choice would cost or gain. Rows are made by a job, sorted and
// filtered between frames. No drawing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/workspace/reasons.h"
#include "gui/model/document_view.h"

namespace recut::gui {

struct ValueRow {
  NodeId node;
  std::int64_t bytes = 0;  // of its storages; where some are kept for backward, of these
  // The effect of the opposite choice for this value alone, all others as they are.
  std::int64_t flip_bytes = 0;  // more or less alive at the plan's peak
  double flip_us = 0;           // more or less time for recomputation
  bool has_choice = false;      // false: it can't be otherwise, and the two above are 0
};

// Bytes of a value's storages under a plan: of those kept for backward, or else of all.
std::int64_t row_bytes(const PlanView& plan, NodeId value);

// The rows of one plan; never changed once made.
struct ValueRows {
  std::shared_ptr<const Reasons> reasons;  // that they were made from; null: no row has a price yet
  SharedPlanView plan;
  std::vector<ValueRow> rows;  // in the order of the graph

  Role role(const ValueRow& row) const { return plan->role(row.node); }
};
std::shared_ptr<const ValueRows> make_value_rows(SharedPlanView plan,
                                                 std::shared_ptr<const Reasons> reasons);

// Rows without prices, for the time until there are reasons: fast.
std::shared_ptr<const ValueRows> rows_without_prices(SharedPlanView plan);

// Makes the rows with their effects, in parts. A value may need all its ancestors, so that a long
// chain takes seconds: parts are counted by visited values, not by rows.
class ValueRowsMaker {
 public:
  ValueRowsMaker(SharedPlanView plan, std::shared_ptr<const Reasons> reasons);
  // Continues by visits of `looks` values that the rows depend on. True if there are more rows.
  bool some(std::size_t looks);
  double share() const;                       // of the rows that are made, 0 … 1
  std::shared_ptr<const ValueRows> finish();  // once there are no more

 private:
  std::shared_ptr<ValueRows> made_;
  std::vector<NodeId> values_;
  std::size_t next_ = 0;
};

enum class ValueColumn : std::uint8_t { name, module, bytes, flip_bytes, flip_us, order };
// The name of a column: "name", "module", "bytes", "peak", "time", "order" (of the graph).
std::string_view name_of(ValueColumn column);
// Reads a column's name; false if there is none of that name.
bool read_column(std::string_view name, ValueColumn& column);

// State of a document's table from frame to frame; the memory "values" of its view.
struct ValueTable {
  std::shared_ptr<const ValueRows> rows;  // null until they were made
  std::shared_ptr<const Reasons>
      requested_reasons;          // the reasons that a job makes rows of; null: the plan's
  SharedPlanView requested_plan;  // likewise
  JobId making = 0;

  ValueColumn sort = ValueColumn::bytes;
  bool falling = true;
  std::string filter;        // as search_nodes reads it
  std::string filter_fault;  // why it can't be read; "" where it can

  std::vector<std::uint32_t> order;  // rows to show, into rows->rows

  // True if there are rows of the shown plan, with prices where its reasons are there.
  bool is_current(const DocumentView& document) const;
  // Brings `order` up to date; cheap where nothing changed.
  void arrange(const DocumentView& document);
  // The place in `order`; its size if the node isn't shown.
  std::size_t row_index(NodeId id) const;

 private:
  struct Key {
    std::shared_ptr<const ValueRows> rows;
    SharedPlanView shown;
    ValueColumn sort = ValueColumn::bytes;
    bool falling = true;
    std::string filter;
    bool operator==(const Key&) const = default;
  };
  Key made_of_;
};
inline constexpr std::string_view kValuesMemory = "values";
ValueTable& value_table(DocumentView& document);

// The overrides, with their patterns read.
enum class OverrideKind : std::uint8_t { no, save, recompute };
class ValueOverrides {
 public:
  void read(const DocumentView& document);  // cheap if the choices are unchanged
  OverrideKind of(NodeId id) const;
  bool empty() const { return overrides_.empty(); }

 private:
  const Graph* graph_ = nullptr;
  OverrideRequest request_;
  Overrides overrides_;
};

// The shown rows in their order, as CSV and as text.
std::string values_csv(const ValueTable& table);
std::string values_text(const ValueTable& table);

// The timeline: a line a step with its bytes by kind.
std::string timeline_csv(const PlanView& plan);
// The values that are alive at the peak.
std::string peak_text(const PlanView& plan);

// One field of CSV, in quotes where it needs them.
std::string csv_field(std::string_view text);

}  // namespace recut::gui
