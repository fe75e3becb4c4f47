// Where the elements of a value stand: storages seen through layouts.
#pragma once

#include <vector>

#include "engine/codegen/lower/builder.h"
#include "engine/ir/graph.h"
#include "engine/ir/layout.h"
#include "engine/ir/storage_view.h"
#include "engine/support/result.h"

namespace recut::loop {

// One output of a call or input: what has a storage of its own. The storage is laid out as the
// output's type says where that is dense, else contiguously.
struct Made {
  NodeId node;
  std::size_t output = 0;

  friend bool operator==(const Made&, const Made&) = default;
  friend bool operator<(const Made& a, const Made& b) {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};

// A value as a view of what was made. Where layouts can't be put together into one (a view of
// strides that it doesn't fit), the later one counts in row-major order what the earlier one shows.
struct Address {
  Made made;
  std::vector<Layout> layouts;  // the first is of the storage

  const Shape& shape() const { return layouts.back().shape; }
};

// A node's output. Fails where it is a view that only bytes could express (another dtype).
Result<Address> address_of(const Graph& graph, NodeId id, std::size_t output = 0);

// What `call` (an operator with a layout rule) shows of its first operand.
Result<Address> viewed(const Graph& graph, NodeId call, std::size_t output);

// The place in the storage of the element at `at` (one index a dimension of the address' shape).
Index place_of(const Address& address, std::vector<Index> at, const Builder& builder);

// The element of what was made that stands at this place of its storage.
std::vector<Index> element_at(const Layout& storage, const Index& place, const Builder& builder);

// Row-major: a place as indices, and indices as a place.
std::vector<Index> delinearised(const Index& place, const Shape& shape, const Builder& builder);
Index linearised(const std::vector<Index>& at, const Shape& shape);

}  // namespace recut::loop
