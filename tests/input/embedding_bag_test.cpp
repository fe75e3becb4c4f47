// Bags of embeddings in printed graphs: sizes that the device chose stand at the items of the call.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/input/graph_file_reader.h"

namespace recut {
namespace {

constexpr std::string_view kBags = R"(class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[4, 2][2, 1]cpu", primals_2: "i64[5][1]cpu", primals_3: "i64[3][1]cpu", tangents_1: "f32[3, 2][2, 1]cpu"):
        bag = torch.ops.aten._embedding_bag.default(primals_1, primals_2, primals_3)
        getitem: "f32[3, 2][2, 1]cpu" = bag[0]
        getitem_1: "i64[0][1]cpu" = bag[1]
        getitem_2: "i64[3][1]cpu" = bag[2]
        getitem_3: "i64[0][1]cpu" = bag[3];  bag = None
        back: "f32[4, 2][2, 1]cpu" = torch.ops.aten._embedding_bag_backward.default(tangents_1, primals_2, primals_3, getitem_1, getitem_2, getitem_3, 4, False, 0, False, None)
        return (getitem, back, None, None)
)";

TEST_CASE("a printed embedding bag without its list of bags has gradients") {
  const auto file = read_graph_bytes(kBags, "bags.txt");
  if (!file) FAIL(format(file.diagnostics()));
  const std::vector<std::vector<double>> values{
      {1, 2, 3, 4, 5, 6, 7, 8}, {0, 3, 3, 1, 0}, {0, 2, 2}, {1, 2, 10, 20, 100, 200}};
  Inputs inputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const NodeId id = file->graph.inputs()[i];
    Tensor tensor = allocate(file->graph.type(id), nullptr);
    Reals reals(tensor.shape);
    reals.data = values[i];
    pack(reals, tensor);
    inputs[id] = tensor;
  }
  const auto evaluation = evaluate(file->graph, inputs);
  if (!evaluation) FAIL(format(evaluation.diagnostics()));
  CHECK(unpack<double>(evaluation->outputs[0]).data == std::vector<double>{8, 10, 0, 0, 11, 14});
  // The second bag is empty: the third has the indices 3, 1 and 0.
  CHECK(unpack<double>(evaluation->outputs[1]).data ==
        std::vector<double>{101, 202, 100, 200, 0, 0, 101, 202});
}

}  // namespace
}  // namespace recut
