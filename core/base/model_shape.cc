#include "core/base/model_shape.h"

#include <fmt/core.h>

#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"

namespace longhaul {
std::vector<Parameter> parameter_layout(const ModelShape& shape) {
  std::vector<Parameter> layout;
  int layer = -1;
  const auto add = [&](const std::string& name, std::int64_t rows, std::int64_t columns,
                       bool writes_residual = false) {
    const std::int64_t offset = layout.empty() ? 0 : layout.back().offset + layout.back().size();
    layout.push_back({name, rows, columns, offset, layer, false, writes_residual});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name, 1, shape.hidden);
    layout.back().is_norm = true;
  };
  const std::int64_t hidden = shape.hidden, width = shape.width_of_head();
  const std::int64_t queries = shape.heads * width, keys = shape.key_heads() * width;
  const std::pair<const char*, std::int64_t> inputs[] = {{"query", queries}, {"key", keys}, {"value", keys}};
  add("embedding", shape.vocabulary, hidden);
  for (layer = 0; layer < shape.layers; ++layer) {
    const std::string attention = fmt::format("layers.{}.attention.", layer),
                      feed_forward = fmt::format("layers.{}.feed_forward.", layer);
    add_norm(attention + "norm");
    for (const auto& [name, rows] : inputs) add(attention + name, rows, hidden);
    if (shape.qkv_bias)
      for (const auto& [name, rows] : inputs) add(attention + name + "_bias", 1, rows);
    add(attention + "output", hidden, queries, true);
    add_norm(feed_forward + "norm");
    if (shape.gated) add(feed_forward + "gate", shape.ffn, hidden);
    add(feed_forward + "up", shape.ffn, hidden);
    add(feed_forward + "down", hidden, shape.ffn, true);
  }
  layer = -1;
  add_norm("norm");
  if (!shape.tied) add("output", shape.vocabulary, hidden);
  return layout;
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

double ModelShape::layer_weights() const {
  const double h = hidden, attention = width_of_head() * (1. * heads + key_heads());
  return 2 * h * attention + (gated ? 3. : 2.) * h * ffn;
}

void ModelShape::check(const std::string& path) const {
  if (head_width == 0 && hidden % heads != 0)
    throw InputError(path + ".heads", fmt::format("found {} heads for hidden {}", heads, hidden),
                     "a divisor of hidden");
  if (heads % key_heads() != 0)
    throw InputError(path + ".kv_heads", fmt::format("found {} kv_heads for {} heads", kv_heads, heads),
                     "a divisor of heads");
  if (width_of_head() % 2 != 0)
    throw InputError(path + (head_width > 0 ? ".head_width" : ".heads"),
                     fmt::format("each head would be {} wide", width_of_head()),
                     "an even width (rotary embeddings turn pairs)");
  const double h = hidden;
  const double count = (tied ? 1. : 2.) * vocabulary * h + layers * (layer_weights() + 2 * h) + h;
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
      {"llama-2-7b", {4096, 32, 32, 11008, 4096, 32000}, "Llama 2 7B"},
      {"llama-2-13b", {5120, 40, 40, 13824, 4096, 32000}, "Llama 2 13B"},
      {"llama-2-70b", {8192, 80, 64, 28672, 4096, 32000, 8}, "Llama 2 70B, 8 kv_heads"},
      {"llama-3.2-1b",
       {2048, 16, 32, 8192, 8192, 128256, 8, 0, true, true},
       "Llama 3.2 1B, 8 kv_heads, tied"},
      {"llama-3.2-3b",
       {3072, 28, 24, 8192, 8192, 128256, 8, 0, true, true},
       "Llama 3.2 3B, 8 kv_heads, tied"},
      {"llama-3-8b", {4096, 32, 32, 14336, 8192, 128256, 8}, "Llama 3 and 3.1 8B, 8 kv_heads"},
      {"llama-3-70b", {8192, 80, 64, 28672, 8192, 128256, 8}, "Llama 3 and 3.1 70B, 8 kv_heads"},
      {"llama-3-405b", {16384, 126, 128, 53248, 8192, 128256, 8}, "Llama 3.1 405B, 8 kv_heads"},
      {"mistral-7b", {4096, 32, 32, 14336, 8192, 32000, 8}, "Mistral 7B 0.1, 8 kv_heads"},
      {"qwen2.5-7b",
       {3584, 28, 28, 18944, 4096, 152064, 4, 0, true, false, true},
       "Qwen2.5 7B, 4 kv_heads, biases of query, key and value"},
      {"qwen2.5-32b",
       {5120, 64, 40, 27648, 4096, 152064, 8, 0, true, false, true},
       "Qwen2.5 32B, 8 kv_heads, biases of query, key and value"},
      {"gemma-7b", {3072, 28, 16, 24576, 8192, 256000, 0, 256, true, true}, "Gemma 7B, heads 256 wide, tied"},
      {"mpt-7b", {4096, 32, 32, 16384, 2048, 50432, 0, 0, false, true}, "MPT 7B, without a gate, tied"},
  };
  return presets;
}

}  // namespace longhaul
