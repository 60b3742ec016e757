#include "core/model_shape.h"

#include "core/errors.h"

namespace longhaul {

std::int64_t ModelShape::parameters() const {
  const std::int64_t h = hidden, f = ffn, v = vocabulary;
  return 2 * v * h + layers * (4 * h * h + 3 * h * f + 2 * h) + h;
}

void ModelShape::check(const std::string& path) const {
  if (hidden % heads != 0)
    throw InputError({"", path + ".heads",
                      "found " + std::to_string(heads) + " heads for hidden " + std::to_string(hidden),
                      "a divisor of hidden", ""});
  if (hidden / heads % 2 != 0)
    throw InputError({"", path + ".heads", "each head would be " + std::to_string(hidden / heads) + " wide",
                      "an even width (rotary embeddings turn pairs)", ""});
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
