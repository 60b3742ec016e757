// The shape of a LLaMA-style decoder (RMSNorm, RoPE, SwiGLU, untied output, no biases) and its exact
// parameter count, which decides the bytes on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

struct ModelShape {
  int hidden = 0;
  int layers = 0;
  int heads = 0;
  int ffn = 0;      // inner width of SwiGLU
  int context = 0;  // tokens in a sequence
  int vocabulary = 0;

  // 2·V·h (embedding, output) + layers·(4·h² + 3·h·ffn + 2·h) + h
  std::int64_t parameters() const;
  // Throws InputError (path below `path`) unless hidden is a multiple of heads and the head width is even
  // (RoPE).
  void check(const std::string& path) const;
};

struct ModelPreset {
  std::string name;
  ModelShape shape;
  std::string about;
};

// The set-ups of the NoLoCo paper (arXiv 2506.10911), with the vocabulary of its authors' code.
const std::vector<ModelPreset>& model_presets();

}  // namespace longhaul
