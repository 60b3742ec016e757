#include "core/base/model_shape.h"

#include <fmt/core.h>

#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"

namespace longhaul {
namespace {

class Layout {
 public:
  void matrix(const std::string& name, std::int64_t rows, std::int64_t columns,
              bool writes_residual = false) {
    add({name, rows, columns, 0, layer_, false, writes_residual});
  }
  void norm(const std::string& name, std::int64_t width) { add({name, 1, width, 0, layer_, true, false}); }

  void begin_layer(int layer) { layer_ = layer; }
  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  void add(Parameter parameter) {
    parameter.offset = end_;
    end_ += parameter.size();
    parameters_.push_back(std::move(parameter));
  }

  std::vector<Parameter> parameters_;
  std::int64_t end_ = 0;
  int layer_ = -1;
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
  for (int layer = 0; layer < shape.layers; ++layer) {
    layout.begin_layer(layer);
    add_layer(layout, fmt::format("layers.{}.", layer), shape.hidden, shape.ffn);
  }
  layout.begin_layer(-1);
  layout.norm("norm", shape.hidden);
  layout.matrix("output", shape.vocabulary, shape.hidden);
  return layout.take();
}

std::vector<MatrixShape> matrices_of(const Columns& columns, const std::vector<Parameter>& layout) {
  std::vector<MatrixShape> matrices;
  if (layout.empty()) return matrices;
  const std::int64_t parameters = layout.back().offset + layout.back().size();
  for (const ColumnRange& range : ranges_of(columns, parameters))
    for (const Parameter& parameter : layout) {
      const std::int64_t end = parameter.offset + parameter.size();
      if (end <= range.begin || parameter.offset >= range.end) continue;
      if (parameter.offset < range.begin || end > range.end)
        throw std::logic_error(
            fmt::format("columns [{}, {}) cut the parameter {}", range.begin, range.end, parameter.name));
      matrices.push_back({parameter.rows, parameter.columns});
    }
  return matrices;
}

std::vector<ColumnRange> layer_columns(const ModelShape& shape) {
  std::vector<ColumnRange> layers(as_index(shape.layers));
  for (const Parameter& parameter : parameter_layout(shape)) {
    if (parameter.layer < 0) continue;
    ColumnRange& range = layers[as_index(parameter.layer)];
    if (range.size() == 0) range.begin = parameter.offset;
    range.end = parameter.offset + parameter.size();
  }
  return layers;
}

std::int64_t ModelShape::parameters() const {
  const Parameter last = parameter_layout(*this).back();
  return last.offset + last.size();
}

void ModelShape::check(const std::string& path) const {
  if (hidden % heads != 0)
    throw InputError(path + ".heads", fmt::format("found {} heads for hidden {}", heads, hidden),
                     "a divisor of hidden");
  if (hidden / heads % 2 != 0)
    throw InputError(path + ".heads", fmt::format("each head would be {} wide", hidden / heads),
                     "an even width (rotary embeddings turn pairs)");
  const double h = hidden;
  const double count = 2. * vocabulary * h + layers * (4 * h * h + 3 * h * ffn + 2 * h) + h;
  if (count > static_cast<double>(kMostParameters))
    throw InputError(path, fmt::format("found a model of {:.3g} parameters", count),
                     fmt::format("at most {:.3g}", static_cast<double>(kMostParameters)));
}

const std::vector<ModelPreset>& model_presets() {
  static const std::vector<ModelPreset> presets = {
      {"llama-small",
       {768, 12, 16, 3072, 1024, 128002},
       "the paper's small model, called 125M: 310 M true parameters"},
      {"llama-medium",
       {2048, 24, 32, 8192, 1024, 128002},
       "the paper's medium model, called 1.3B: 2.14 B true parameters"},
      {"llama-large",
       {4096, 32, 32, 16384, 1024, 128002},
       "the paper's large model, called 6.8B: 9.64 B true parameters"},
  };
  return presets;
}

}  // namespace longhaul
