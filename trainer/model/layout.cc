#include "trainer/model/layout.h"

#include <cassert>

namespace longhaul {
namespace {

class Layout {
 public:
  void matrix(const std::string& name, std::int64_t rows, std::int64_t columns,
              bool writes_residual = false) {
    add({name, rows, columns, 0, false, writes_residual});
  }
  void norm(const std::string& name, std::int64_t width) { add({name, 1, width, 0, true, false}); }

  std::int64_t size() const { return end_; }
  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  void add(Parameter parameter) {
    parameter.offset = end_;
    end_ += parameter.size();
    parameters_.push_back(std::move(parameter));
  }

  std::vector<Parameter> parameters_;
  std::int64_t end_ = 0;
};

void add_layer(Layout& layout, const std::string& prefix, std::int64_t hidden, std::int64_t ffn) {
  layout.norm(prefix + "attention.norm", hidden);
  for (const char* name : {"query", "key", "value"})
    layout.matrix(prefix + "attention." + name, hidden, hidden);
  layout.matrix(prefix + "attention.output", hidden, hidden, true);
  layout.norm(prefix + "feed_forward.norm", hidden);
  for (const char* name : {"gate", "up"}) layout.matrix(prefix + "feed_forward." + name, ffn, hidden);
  layout.matrix(prefix + "feed_forward.down", hidden, ffn, true);
}

}  // namespace

std::vector<Parameter> parameter_layout(const ModelShape& shape) {
  Layout layout;
  layout.matrix("embedding", shape.vocabulary, shape.hidden);
  for (int layer = 0; layer < shape.layers; ++layer)
    add_layer(layout, "layers." + std::to_string(layer) + ".", shape.hidden, shape.ffn);
  layout.norm("norm", shape.hidden);
  layout.matrix("output", shape.vocabulary, shape.hidden);
  assert(layout.size() == shape.parameters());
  return layout.take();
}

}  // namespace longhaul
