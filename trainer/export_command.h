// `longhaul-train export`: one replica, or the mean of all, as a folder that transformers loads
// (LlamaForCausalLM): model.safetensors with Hugging Face's names and config.json.
//
// The decoder turns halves, (x_i, x_{i + d/2}), as transformers' rotate_half does, and keeps its matrices
// [out, in]: nothing is permuted or transposed.
#pragma once

#include <optional>
#include <string>

namespace longhaul {

struct ExportArguments {
  std::string run;             // train/KEY: its newest whole checkpoint; or a checkpoint, step-N.json
  std::optional<int> replica;  // none: the mean
  bool mean = false;
  std::string out;  // folder
};

// Throws InputError where there is no whole checkpoint, or it has no such replica. Returns the step whose
// weights were written.
int run_export(const ExportArguments& arguments);

// The name in transformers of a parameter of the layout ("layers.0.attention.query" →
// "model.layers.0.self_attn.q_proj.weight").
std::string huggingface_name(const std::string& parameter);

}  // namespace longhaul
