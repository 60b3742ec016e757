// Models that people name: shapes as their published configurations say, under the names of their
// repositories.
#pragma once

#include <string>
#include <vector>

#include "core/base/model_shape.h"

namespace longhaul {

struct ModelPreset {
  std::string name;
  ModelShape shape;
  std::string about;
};

// The set-ups of the NoLoCo paper (arXiv 2506.10911), with the vocabulary of its authors' code, and open
// models as their configurations say, with the context of their pre-training.
const std::vector<ModelPreset>& model_presets();

// The name of the preset that people mean by `written`: of an owner and its variants ("meta-llama/
// Llama-3.1-70B-Instruct") that of the model, in small letters. `written` itself where there is none.
std::string preset_named_by(const std::string& written);

}  // namespace longhaul
