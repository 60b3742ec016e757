#include "core/base/sparse_models.h"

#include <fmt/core.h>

#include <cmath>
#include <regex>

#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr double kSameSize = 0.01;  // published totals are rounded to three digits

const SparseModel* sparse_model_of(std::int64_t parameters) {
  const SparseModel* nearest = nullptr;
  double least = kSameSize;
  for (const SparseModel& model : sparse_models()) {
    const double off = std::abs(static_cast<double>(parameters) / model.parameters - 1);
    if (!model.is_known_by_size || off > least) continue;
    nearest = &model;
    least = off;
  }
  return nearest;
}

// The word in `about` that says so, or "".
std::string word_of_experts(const std::string& about) {
  static const std::regex words(
      "\\bmoe\\b|mixture[ -]of[ -]experts|\\b[0-9.]+b-a[0-9.]+b\\b|\\b[0-9]+x[0-9.]+b\\b|mixtral|gpt-oss|"
      "llama-?4|deepseek-?v[23]|kimi-k2|minimax-m[12]|dbrx|olmoe",
      std::regex::icase);
  std::smatch found;
  return std::regex_search(about, found, words) ? found.str() : "";
}

}  // namespace

// Model cards and technical reports: Qwen3 (arXiv 2505.09388), Qwen2 (2407.10671), Mixtral (2401.04088),
// DeepSeek-V2 (2405.04434) and V3 (2412.19437), gpt-oss (2508.10925), GLM-4.5 (2508.06471), Kimi K2
// (2507.20534), Phi-3 (2404.14219), OLMoE (2409.02060), and the model cards of Llama 4, MiniMax-M2, DBRX,
// Qwen3-Next and Qwen1.5-MoE.
const std::vector<SparseModel>& sparse_models() {
  static const std::vector<SparseModel> known = {{"Qwen3-30B-A3B", 30.5e9, 3.3e9},
                                                 {"Qwen3-235B-A22B", 235e9, 22e9},
                                                 {"Qwen3-Next-80B-A3B", 80e9, 3e9},
                                                 {"Qwen2-57B-A14B", 57.4e9, 14e9},
                                                 {"Mixtral 8x7B", 46.7e9, 12.9e9},
                                                 {"Mixtral 8x22B", 141e9, 39e9},
                                                 {"DeepSeek-V2-Lite", 15.7e9, 2.4e9},
                                                 {"DeepSeek-V2", 236e9, 21e9},
                                                 {"DeepSeek-V3", 671e9, 37e9},
                                                 {"gpt-oss-20b", 20.9e9, 3.6e9},
                                                 {"gpt-oss-120b", 116.8e9, 5.1e9},
                                                 {"Llama 4 Scout", 109e9, 17e9},
                                                 {"Llama 4 Maverick", 400e9, 17e9},
                                                 {"GLM-4.5-Air", 106e9, 12e9},
                                                 {"GLM-4.5", 355e9, 32e9},
                                                 {"Kimi K2", 1.04e12, 32e9},
                                                 {"MiniMax-M2", 230e9, 10e9},
                                                 {"DBRX", 132e9, 36e9},
                                                 {"Phi-3.5-MoE", 41.9e9, 6.6e9},
                                                 {"Qwen1.5-MoE-A2.7B", 14.3e9, 2.7e9, false},
                                                 {"OLMoE-1B-7B", 6.92e9, 1.28e9, false}};
  return known;
}

std::string sparse_hint(const std::string& about, std::int64_t parameters, const std::string& prefix) {
  const std::string remedy = fmt::format(
      "compute counts all parameters; give {}active_parameters, those that compute a token", prefix);
  if (const SparseModel* model = sparse_model_of(parameters))
    return fmt::format(
        "{} parameters are as many as those of {}, a mixture of experts of which {} compute a "
        "token: {}",
        human_count(static_cast<double>(parameters)), model->name, human_count(model->active), remedy);
  if (const std::string word = word_of_experts(about); !word.empty())
    return fmt::format("\"{}\" says a mixture of experts: {}", word, remedy);
  return "";
}

}  // namespace longhaul
