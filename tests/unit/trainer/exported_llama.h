// What transformers' LlamaForCausalLM makes of an exported folder, from nothing but its config.json and
// model.safetensors: the scalar decoder, on the weights that stand there under their names in transformers.
#pragma once

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "tests/unit/trainer/scalar_decoder.h"
#include "trainer/checkpoint/safetensors.h"

namespace longhaul {

class ExportedLlama {
 public:
  explicit ExportedLlama(const std::string& folder)
      : config_(Json::parse(std::ifstream(folder + "/config.json"))),
        tensors_(read_safetensors(folder + "/model.safetensors")) {
    if (config_.at("rope_theta") != 10000 || config_.at("rms_norm_eps") != 1e-5)
      throw std::logic_error("the scalar decoder has other constants");
    append("model.embed_tokens");
    for (int layer = 0; layer < config_.at("num_hidden_layers").get<int>(); ++layer)
      for (const char* part :
           {"input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
            "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"})
        append("model.layers." + std::to_string(layer) + "." + part);
    append("model.norm");
    append("lm_head");
  }

  // Mean cross-entropy of predicting tokens 1 … n − 1.
  double loss(const std::vector<std::int64_t>& tokens) const {
    const ModelShape shape{config_.at("hidden_size"),           config_.at("num_hidden_layers"),
                           config_.at("num_attention_heads"),   config_.at("intermediate_size"),
                           static_cast<int>(tokens.size()) - 1, config_.at("vocab_size")};
    return ScalarDecoder(shape, weights_).loss({1, tokens});
  }

  const StoredTensors& tensors() const { return tensors_; }
  const Json& config() const { return config_; }

 private:
  void append(const std::string& name) {
    const StoredTensor& tensor = tensors_.at(name + ".weight");
    std::vector<float> floats(static_cast<std::size_t>(tensor.elements()));
    std::memcpy(floats.data(), tensor.bytes.data(), tensor.bytes.size());
    weights_.insert(weights_.end(), floats.begin(), floats.end());
  }

  Json config_;
  StoredTensors tensors_;
  std::vector<double> weights_;  // in the order of the layout
};

}  // namespace longhaul
