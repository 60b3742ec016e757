#include "core/base/model_shape.h"

#include <fmt/core.h>

#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"

namespace longhaul {
namespace {

// Builds a layout from its front.
class Layout {
 public:
  explicit Layout(const ModelShape& shape) : shape_(shape) {}

  std::vector<Parameter> built() {
    const std::int64_t hidden = shape_.hidden;
    add("embedding", shape_.vocabulary, hidden);
    for (layer_ = 0; layer_ < shape_.layers; ++layer_) {
      prefix_ = fmt::format("layers.{}.attention.", layer_);
      add_norm("norm");
      shape_.latent.rank > 0 ? add_latent_attention() : add_attention();
      prefix_ = fmt::format("layers.{}.feed_forward.", layer_);
      add_norm("norm");
      if (shape_.has_experts(layer_))
        add_experts();
      else
        add_network("", shape_.ffn, 1);
      if (shape_.further > 0) add("further", 1, shape_.further);
    }
    layer_ = -1;
    prefix_.clear();
    add_norm("norm");
    if (!shape_.tied) add("output", shape_.vocabulary, hidden);
    return std::move(layout_);
  }

 private:
  void add(const std::string& name, std::int64_t rows, std::int64_t columns, bool writes_residual = false,
           std::int64_t copies = 1) {
    const std::int64_t offset = layout_.empty() ? 0 : layout_.back().offset + layout_.back().size();
    layout_.push_back({prefix_ + name, rows, columns, offset, layer_, false, writes_residual, copies});
  }

  void add_norm(const std::string& name, std::int64_t width = 0) {
    add(name, 1, width > 0 ? width : shape_.hidden);
    layout_.back().is_norm = true;
  }

  void add_attention() {
    const std::int64_t hidden = shape_.hidden, width = shape_.width_of_head();
    const std::int64_t queries = shape_.heads * width, keys = shape_.key_heads() * width;
    const std::pair<const char*, std::int64_t> inputs[] = {
        {"query", queries}, {"key", keys}, {"value", keys}};
    for (const auto& [name, rows] : inputs) add(name, rows, hidden);
    if (shape_.qkv_bias)
      for (const auto& [name, rows] : inputs) add(std::string(name) + "_bias", 1, rows);
    add("output", hidden, queries, true);
  }

  void add_latent_attention() {
    const LatentAttention& latent = shape_.latent;
    const std::int64_t hidden = shape_.hidden, heads = shape_.heads,
                       queries = heads * (latent.plain + latent.turned);
    if (latent.query_rank > 0) {
      add("query_down", latent.query_rank, hidden);
      add_norm("query_norm", latent.query_rank);
      add("query_up", queries, latent.query_rank);
    } else {
      add("query", queries, hidden);
    }
    add("latent_down", latent.rank + latent.turned, hidden);
    add_norm("latent_norm", latent.rank);
    add("latent_up", heads * (latent.plain + latent.value), latent.rank);
    add("output", hidden, heads * latent.value, true);
  }

  void add_network(const std::string& name, std::int64_t width, std::int64_t copies) {
    if (shape_.gated) add(name + "gate", width, shape_.hidden, false, copies);
    add(name + "up", width, shape_.hidden, false, copies);
    add(name + "down", shape_.hidden, width, true, copies);
  }

  void add_experts() {
    const Experts& experts = shape_.experts;
    add("router", experts.count, shape_.hidden);
    add_network("experts.", experts.ffn, experts.count);
    if (experts.shared_ffn > 0) add_network("shared.", experts.shared_ffn, 1);
  }

  const ModelShape& shape_;
  std::vector<Parameter> layout_;
  int layer_ = -1;
  std::string prefix_;
};

double attention_weights(const ModelShape& shape) {
  const double h = shape.hidden, n = shape.heads;
  const LatentAttention& latent = shape.latent;
  if (latent.rank == 0) return 2 * h * shape.width_of_head() * (n + shape.key_heads());
  const double queries = n * (latent.plain + latent.turned);
  return (latent.query_rank > 0 ? latent.query_rank * (h + queries) : h * queries) +
         h * (latent.rank + latent.turned) + latent.rank * n * (latent.plain + latent.value) +
         h * n * latent.value;
}

double network_weights(const ModelShape& shape, double width) {
  return (shape.gated ? 3. : 2.) * shape.hidden * width;
}

int layers_with_experts(const ModelShape& shape) {
  int count = 0;
  for (int layer = 0; layer < shape.layers; ++layer) count += shape.has_experts(layer) ? 1 : 0;
  return count;
}

// Weights of a layer's feed-forward matrices; `experts`: so many of them count.
double feed_forward_weights(const ModelShape& shape, bool has_experts, int experts) {
  if (!has_experts) return network_weights(shape, shape.ffn);
  return 1. * shape.hidden * shape.experts.count + experts * network_weights(shape, shape.experts.ffn) +
         network_weights(shape, shape.experts.shared_ffn);
}

// What no matrix has: norms, biases, and the rest.
double vector_weights(const ModelShape& shape) {
  double count = 2. * shape.hidden + shape.further;
  if (shape.latent.rank > 0) return count + shape.latent.rank + shape.latent.query_rank;
  return count + (shape.qkv_bias ? shape.width_of_head() * (shape.heads + 2. * shape.key_heads()) : 0);
}

// A double, which no dimensions overflow: 2^53 is above kMostParameters.
double count_of(const ModelShape& shape) {
  const double h = shape.hidden, with = layers_with_experts(shape);
  return (shape.tied ? 1. : 2.) * shape.vocabulary * h + h +
         shape.layers * (attention_weights(shape) + vector_weights(shape)) +
         with * feed_forward_weights(shape, true, shape.experts.count) +
         (shape.layers - with) * feed_forward_weights(shape, false, 0);
}

}  // namespace

std::vector<Parameter> parameter_layout(const ModelShape& shape) {
  return Layout(shape).built();
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
      matrices.insert(matrices.end(), as_index(parameter.copies), {parameter.rows, parameter.columns});
    }
  return matrices;
}

std::vector<ColumnRange> layer_columns(const ModelShape& shape) {
  std::vector<ColumnRange> layers;
  std::int64_t begin = std::int64_t{shape.vocabulary} * shape.hidden;
  for (int layer = 0; layer < shape.layers; ++layer) {
    layers.push_back({begin, begin + shape.layer_parameters(layer)});
    begin = layers.back().end;
  }
  return layers;
}

bool ModelShape::has_experts(int layer) const {
  return experts.count > 0 && layer >= experts.dense_layers &&
         (layer - experts.dense_layers) % experts.every == experts.every - 1;
}

std::int64_t ModelShape::layer_parameters(int layer) const {
  return static_cast<std::int64_t>(attention_weights(*this) + vector_weights(*this) +
                                   feed_forward_weights(*this, has_experts(layer), experts.count));
}

std::int64_t ModelShape::parameters() const {
  return static_cast<std::int64_t>(count_of(*this));
}

std::int64_t ModelShape::active_parameters() const {
  return static_cast<std::int64_t>(count_of(*this) - layers_with_experts(*this) *
                                                         (experts.count - experts.per_token) *
                                                         network_weights(*this, experts.ffn));
}

double ModelShape::layer_weights() const {
  const double with = layers_with_experts(*this);
  return attention_weights(*this) + (with * feed_forward_weights(*this, true, experts.per_token) +
                                     (layers - with) * feed_forward_weights(*this, false, 0)) /
                                        layers;
}

void ModelShape::check(const std::string& path) const {
  if (experts.count > 0 && experts.per_token > experts.count)
    throw InputError(path + ".experts.per_token",
                     fmt::format("found {} of {} experts", experts.per_token, experts.count),
                     fmt::format("at most {}", experts.count));
  if (experts.count > 0 && layers_with_experts(*this) == 0)
    throw InputError(path + ".experts", fmt::format("no layer of {} has experts", layers),
                     "fewer dense_layers, or a smaller every");
  if (head_width == 0 && latent.rank == 0 && hidden % heads != 0)
    throw InputError(path + ".heads", fmt::format("found {} heads for hidden {}", heads, hidden),
                     "a divisor of hidden");
  if (heads % key_heads() != 0)
    throw InputError(path + ".kv_heads", fmt::format("found {} kv_heads for {} heads", kv_heads, heads),
                     "a divisor of heads");
  if (latent.rank == 0 && width_of_head() % 2 != 0)
    throw InputError(path + (head_width > 0 ? ".head_width" : ".heads"),
                     fmt::format("each head would be {} wide", width_of_head()),
                     "an even width (rotary embeddings turn pairs)");
  const double count = count_of(*this);
  if (count > static_cast<double>(kMostParameters))
    throw InputError(path, fmt::format("found a model of {:.3g} parameters", count),
                     fmt::format("at most {:.3g}", static_cast<double>(kMostParameters)));
}

}  // namespace longhaul
