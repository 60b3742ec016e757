#include "core/scenario/model_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/model_presets.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr int kMostOfContext = 8192;  // where nothing says what a training takes

enum class QkNorms { kNone, kOfHead, kOfAll };

// What a class of transformers fixes without a key, and the values of keys that its files may leave out (the
// class's defaults in transformers 5.0.0).
struct Family {
  std::string model_type;
  QkNorms qk_norms = QkNorms::kNone;
  bool qkv_bias = false;
  bool tied = false;
  bool post_norms = false;  // two norms more in each layer
  bool has_sinks = false;
  Json defaults = Json::object();
};

const std::vector<Family>& families() {
  static const std::vector<Family> known = [] {
    const auto keys = [](int kv_heads, Json more = Json::object()) {
      more["num_key_value_heads"] = kv_heads;
      return more;
    };
    const Json gemma3 = {{"head_dim", 256},
                         {"vocab_size", 262208},
                         {"num_attention_heads", 8},
                         {"max_position_embeddings", 131072}};
    const Json gemma = {{"head_dim", 256}, {"vocab_size", 256000}};
    std::vector<Family> all;
    for (const char* plain : {"llama", "phi3", "deepseek_v2", "deepseek_v3", "kimi_k2"})
      all.push_back({plain});
    for (const char* grouped : {"mistral", "mixtral", "ministral3", "llama4_text", "glm4_moe"})
      all.push_back({grouped, QkNorms::kNone, false, false, false, false, keys(8)});
    all.push_back({"smollm3", QkNorms::kNone, false, true, false, false, keys(4)});
    for (const char* biased : {"qwen2", "qwen2_moe"}) all.push_back({biased, QkNorms::kNone, true});
    for (const char* normed : {"qwen3", "qwen3_vl_text", "qwen3_vl_moe_text"})
      all.push_back({normed, QkNorms::kOfHead, false, false, false, false, {{"head_dim", 128}}});
    all.push_back({"qwen3_moe", QkNorms::kOfHead, false, false, false, false, keys(4)});
    for (const char* normed : {"olmo2", "olmoe"}) all.push_back({normed, QkNorms::kOfAll});
    all.push_back({"minimax_m2", QkNorms::kOfAll, false, false, false, false, keys(8)});
    all.push_back({"gpt_oss", QkNorms::kNone, true, false, false, true, keys(8, {{"head_dim", 64}})});
    all.push_back({"gemma", QkNorms::kNone, false, true, false, false, gemma});
    all.push_back({"gemma2", QkNorms::kNone, false, true, true, false, keys(4, gemma)});
    all.push_back({"gemma3_text", QkNorms::kOfHead, false, true, true, false, keys(4, gemma3)});
    return all;
  }();
  return known;
}

// Reads keys of a configuration, each under the names that it has had.
class Config {
 public:
  Config(const Json& text, const Json& whole, const Family& family)
      : text_(text), whole_(whole), family_(family) {}

  Json value(std::initializer_list<const char*> keys) const {
    for (const Json* place : {&text_, &family_.defaults})
      for (const char* key : keys)
        if (place->contains(key) && !(*place)[key].is_null()) return (*place)[key];
    return Json();
  }

  int number(std::initializer_list<const char*> keys, std::optional<int> otherwise = std::nullopt) const {
    const Json found = value(keys);
    if (found.is_null() && otherwise) return *otherwise;
    if (!found.is_number_integer())
      throw InputError(*keys.begin(), found.is_null() ? "this key is missing" : "found " + found.dump(),
                       "an integer, as transformers writes it");
    return found;
  }

  bool flag(const char* key, bool otherwise) const {
    const Json found = value({key});
    return found.is_boolean() ? found.get<bool>() : otherwise;
  }

  bool is_tied() const {
    for (const Json* place : {&text_, &whole_})
      if (const Json found = member(*place, "tie_word_embeddings"); found.is_boolean()) return found;
    return family_.tied;
  }

  // In rope_scaling of version 4, in rope_parameters of version 5, there also by kind of layer.
  std::optional<int> trained_context() const {
    for (const char* key : {"rope_parameters", "rope_scaling"}) {
      const Json rope = value({key});
      if (const Json found = member(rope, "original_max_position_embeddings"); found.is_number_integer())
        return found;
      if (!rope.is_object()) continue;
      for (const auto& [kind, of_kind] : rope.items())
        if (const Json found = member(of_kind, "original_max_position_embeddings"); found.is_number_integer())
          return found;
    }
    return std::nullopt;
  }

  const Family& family() const { return family_; }

 private:
  const Json &text_, &whole_;
  const Family& family_;
};

// Layers whose numbers the file lists: the first ones, or a form that is not counted.
int first_of(const Json& layers, const char* key) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i] != i)
      throw InputError(key, "found " + layers.dump(), "the first layers, or none",
                       "give the dimensions, or parameters and active_parameters");
  return static_cast<int>(layers.size());
}

Json experts_of(const Config& config) {
  const std::string& type = config.family().model_type;
  const bool is_llama4 = type == "llama4_text";
  const int count =
      config.number({"n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"}, 0);
  if (count == 0) return Json();
  Json experts = {{"count", count}};
  experts["per_token"] = config.number({"num_experts_per_tok", "num_experts_per_token", "moe_topk"});
  const int ffn = is_llama4 ? config.number({"intermediate_size"})
                            : config.number({"moe_intermediate_size", "intermediate_size"});
  experts["ffn"] = ffn;
  const int shared = is_llama4 ? ffn
                               : config.number({"shared_expert_intermediate_size"},
                                               ffn * config.number({"n_shared_experts"}, 0));
  if (shared > 0) experts["shared_ffn"] = shared;
  int dense = config.number({"first_k_dense_replace"}, 0);
  if (const Json listed = config.value({"mlp_only_layers"}); listed.is_array())
    dense = std::max(dense, first_of(listed, "mlp_only_layers"));
  if (dense > 0) experts["dense_layers"] = dense;
  const int every = config.number({"interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq"}, 1);
  if (every > 1) experts["every"] = every;
  return experts;
}

Json latent_of(const Config& config) {
  if (config.value({"kv_lora_rank"}).is_null()) return Json();
  return {{"rank", config.number({"kv_lora_rank"})},
          {"query_rank", config.number({"q_lora_rank"}, 0)},
          {"plain", config.number({"qk_nope_head_dim"})},
          {"turned", config.number({"qk_rope_head_dim"})},
          {"value", config.number({"v_head_dim"})}};
}

// Weights of a layer that have no key of their own in a section `model`.
int further_of(const Config& config, const Json& model, bool has_bias) {
  const Family& family = config.family();
  const std::string& type = family.model_type;
  const int hidden = model["hidden"], heads = model["heads"], keys = model["kv_heads"];
  const int width = model.value("head_width", hidden / heads);
  int count = family.post_norms ? 2 * hidden : 0;
  const bool is_normed = family.qk_norms == QkNorms::kOfHead || config.flag("use_qk_norm", false);
  if (family.qk_norms == QkNorms::kOfAll)
    count += (heads + keys) * width;
  else if (is_normed && type != "llama4_text")  // which norms without scales
    count += 2 * width;
  if (has_bias && !family.qkv_bias && type != "glm4_moe") count += hidden;  // of the output too
  if (config.flag("mlp_bias", false)) count += 2 * model["ffn"].get<int>() + hidden;
  if (type == "qwen2_moe") count += hidden;  // the shared expert's gate
  if (!family.has_sinks) return count;
  const Json& experts = model["experts"];
  return count + heads + hidden + experts["count"].get<int>() * (1 + 2 * experts["ffn"].get<int>() + hidden);
}

const Family& family_of(const Json& config) {
  const Json type = member(config, "model_type");
  std::vector<std::string> names = each_of(families(), &Family::model_type);
  const auto found = find_if(families(), [&](const Family& family) { return family.model_type == type; });
  if (found == families().end())
    throw InputError("model_type", type.is_null() ? "this key is missing" : "found " + type.dump(),
                     "one of " + join(names), "for another one give the dimensions, or parameters");
  return *found;
}

}  // namespace

Json model_of_config(const Json& config) {
  const Json inner = member(config, "text_config");
  const Json& text = inner.is_object() ? inner : config;
  const Family& family = family_of(text);
  const Config keys(text, config, family);
  Json model;
  model["hidden"] = keys.number({"hidden_size"});
  model["layers"] = keys.number({"num_hidden_layers"});
  model["heads"] = keys.number({"num_attention_heads"});
  model["ffn"] = family.model_type == "llama4_text" ? keys.number({"intermediate_size_mlp"})
                                                    : keys.number({"intermediate_size"});
  model["context"] = keys.trained_context().value_or(
      std::min(kMostOfContext, keys.number({"max_position_embeddings"}, kMostOfContext)));
  model["vocabulary"] = keys.number({"vocab_size"});
  model["kv_heads"] = keys.number({"num_key_value_heads"}, model["heads"].get<int>());
  const Json latent = latent_of(keys), experts = experts_of(keys);
  if (const int width = keys.number({"head_dim"}, 0); width > 0 && latent.is_null())
    model["head_width"] = width;
  if (!experts.is_null()) model["experts"] = experts;
  if (!latent.is_null()) model["latent"] = latent;
  const bool has_bias = keys.flag("attention_bias", family.qkv_bias) || family.qkv_bias;
  if (has_bias) model["qkv_bias"] = true;
  if (keys.is_tied()) model["tied"] = true;
  if (const int further = further_of(keys, model, has_bias); further > 0) model["further"] = further;
  return model;
}

void expand_model(Json& section, const std::string& folder, const std::string& path) {
  if (!section.is_object() || !member(section, "model").is_string()) return;
  const std::string written = section["model"];
  fs::path file = fs::path(folder) / written;
  if (fs::is_directory(file)) file /= "config.json";
  const bool is_file = fs::is_regular_file(file);
  if (!is_file && fs::path(written).extension() != ".json") {
    const std::string name = preset_named_by(written);
    const std::vector<std::string> names = each_of(model_presets(), &ModelPreset::name);
    if (!contains(names, name))
      throw InputError(path, fmt::format("found \"{}\", which is neither a preset nor a file", written),
                       "a preset (longhaul list models), a config.json of transformers, or dimensions",
                       did_you_mean(name, names, "parameters alone would do too"));
    section["model"] = name;
    return;
  }
  const std::optional<std::string> text = read_file(file.string());
  if (!text)
    throw InputError(path, fmt::format("found \"{}\": {}", written, why_unreadable(file.string())),
                     "a config.json of transformers, relative to this file's folder");
  try {
    section["model"] = model_of_config(parse_json(*text));
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file(file.string());
  } catch (const InputError& error) {
    throw error.in_file(file.string());
  }
}

}  // namespace longhaul
