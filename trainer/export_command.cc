#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/scenario/case.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/commands.h"
#include "trainer/model/decoder.h"
#include "trainer/replicas/arena.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

const std::pair<const char*, const char*> kNames[] = {
    {"attention.norm", "input_layernorm"},    {"attention.query", "self_attn.q_proj"},
    {"attention.key", "self_attn.k_proj"},    {"attention.value", "self_attn.v_proj"},
    {"attention.output", "self_attn.o_proj"}, {"feed_forward.norm", "post_attention_layernorm"},
    {"feed_forward.gate", "mlp.gate_proj"},   {"feed_forward.up", "mlp.up_proj"},
    {"feed_forward.down", "mlp.down_proj"}};

// One training of a run directory, as its manifest has it.
struct NamedTraining {
  std::string label, folder;
  std::uint64_t seed = 0;
};

// Those of the run in `folder`, empty if it is none. A training that several labels share has each of them,
// once the run has a summary.
std::vector<NamedTraining> trainings_of(const std::string& folder) {
  std::vector<NamedTraining> trainings;
  const std::optional<std::string> text = read_file(folder + "/manifest.json");
  if (!text || text->empty()) return trainings;
  const Json listed = member(parse_json(*text), "trainings");
  if (!listed.is_object()) return trainings;
  for (const auto& [key, training] : listed.items()) {
    const Json label = member(training, "label"), seed = member(training, "seed");
    if (label.is_string() && seed.is_number_unsigned())
      trainings.push_back({label, folder + "/train/" + key, seed});
  }
  const auto is_known = [&](const std::string& label, const std::string& at) {
    return std::any_of(trainings.begin(), trainings.end(),
                       [&](const NamedTraining& one) { return one.label == label && one.folder == at; });
  };
  const std::optional<std::string> summary = read_file(folder + "/summary.json");
  if (!summary || summary->empty()) return trainings;
  for (const Json& record : parse_json(*summary).value("cases", Json::array())) {
    const Json key = member(record, "training"), label = member(record, "label"),
               seed = member(record, "seed");
    if (!key.is_string() || key == "" || !label.is_string() || !seed.is_number_unsigned()) continue;
    const std::string at = folder + "/train/" + key.get<std::string>();
    if (!is_known(label, at)) trainings.push_back({label, at, seed});
  }
  return trainings;
}

// "noloco, seed 1: results/my/train/noloco-27d11ea5cc24861d", one each.
std::string listed(const std::vector<NamedTraining>& trainings) {
  std::vector<std::string> lines;
  for (const NamedTraining& named_training : trainings)
    lines.push_back(
        fmt::format("{}, seed {}: {}", named_training.label, named_training.seed, named_training.folder));
  return join(lines, "; ");
}

// That no training has what is asked for. `has`: what the trainings have, in their order.
[[noreturn]] void refuse(const std::string& option, const std::string& asked, const std::string& run,
                         const std::vector<std::string>& has) {
  std::vector<std::string> each;
  for (const std::string& one : has)
    if (std::find(each.begin(), each.end(), one) == each.end()) each.push_back(one);
  throw InputError(option, fmt::format("no training of \"{}\" has {}", run, asked), join(each, ", "));
}

// The folder of the training that --method and --seed single out in a run directory; `run` itself if it is a
// training or a checkpoint.
std::string training_folder(const ExportArguments& arguments) {
  const std::vector<NamedTraining> all = trainings_of(arguments.run);
  if (all.empty()) {
    if (!arguments.method.empty() || arguments.seed)
      throw InputError("--run", "\"" + arguments.run + "\" is no run directory with trainings",
                       "a run directory beside --method and --seed");
    return arguments.run;
  }
  std::vector<NamedTraining> meant;
  for (const NamedTraining& named_training : all)
    if ((arguments.method.empty() || named_training.label == arguments.method) &&
        (!arguments.seed || named_training.seed == *arguments.seed))
      meant.push_back(named_training);
  const bool is_one =
      !meant.empty() && std::all_of(meant.begin(), meant.end(),
                                    [&](const NamedTraining& one) { return one.folder == meant[0].folder; });
  if (is_one) return meant[0].folder;
  std::vector<std::string> labels, seeds;
  for (const NamedTraining& named_training : all) {
    labels.push_back(named_training.label);
    if (arguments.method.empty() || named_training.label == arguments.method)
      seeds.push_back(std::to_string(named_training.seed));
  }
  if (seeds.empty()) refuse("--method", "\"" + arguments.method + "\"", arguments.run, labels);
  if (meant.empty()) refuse("--seed", std::to_string(*arguments.seed), arguments.run, seeds);
  throw InputError(
      "--run",
      fmt::format("{} of the {} trainings of \"{}\" are meant", meant.size(), all.size(), arguments.run),
      "--method and --seed that single out one, or its folder: " + listed(meant));
}

Checkpoint checkpoint_of(const std::string& run) {
  if (fs::path(run).extension() == ".json") return read_checkpoint(run);
  const std::string folder = run + "/checkpoints";
  std::string refused;
  for (int step : checkpoint_steps(folder)) {
    try {
      return read_checkpoint(folder + "/step-" + std::to_string(step) + ".json");
    } catch (const InputError& error) {
      refused += std::string("; ") + error.what();
    }
  }
  throw InputError("--run", "\"" + run + "\" has no whole checkpoint in checkpoints/" + refused,
                   "a run directory with --method and --seed, its train/KEY, or a checkpoint's step-N.json");
}

// The table that has the models which the method makes.
std::string product_of(const Checkpoint& checkpoint) {
  return checkpoint.state.value("product", Slot::kWeights.name);
}

int replicas_of(const Checkpoint& checkpoint, std::int64_t parameters) {
  const int replicas = checkpoint.state.at("replicas");
  const SafetensorsFile::Entry entry = SafetensorsFile(checkpoint.tensors_file).entry(product_of(checkpoint));
  if (entry.dtype != "F32" || entry.shape != std::vector<std::int64_t>{replicas, parameters})
    throw InputError({checkpoint.tensors_file, product_of(checkpoint),
                      "is " + entry.dtype + Json(entry.shape).dump(),
                      "F32" + Json({replicas, parameters}).dump(), ""});
  return replicas;
}

// Replicas that are not gone after the checkpoint's step, ascending.
std::vector<int> replicas_there(const Checkpoint& checkpoint, int replicas) {
  if (checkpoint.state.contains("there")) return checkpoint.state["there"].get<std::vector<int>>();
  return RowBlock{0, replicas}.replicas();
}

// The sum of their rows in double, a row at a time, over their number.
std::vector<float> mean_of_rows(const Checkpoint& checkpoint, std::int64_t parameters,
                                const std::vector<int>& replicas) {
  SafetensorsFile file(checkpoint.tensors_file);
  const SafetensorsFile::Entry entry = file.entry(product_of(checkpoint));
  const std::int64_t bytes = parameters * static_cast<std::int64_t>(sizeof(float));
  std::vector<float> row(as_index(parameters));
  std::vector<double> sum(row.size());
  for (const int replica : replicas) {
    file.read(entry, replica * bytes, bytes, row.data());
    for (std::size_t i = 0; i < row.size(); ++i) sum[i] += static_cast<double>(row[i]);
  }
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<float>(sum[i] / static_cast<double>(replicas.size()));
  return row;
}

std::vector<float> chosen_weights(const ExportArguments& arguments, const Checkpoint& checkpoint,
                                  std::int64_t parameters) {
  const int replicas = replicas_of(checkpoint, parameters);
  if (arguments.mean == arguments.replica.has_value())
    throw InputError("--replica", "found " + std::string(arguments.mean ? "both" : "none"),
                     "either --replica N or --mean");
  const std::vector<int> there = replicas_there(checkpoint, replicas);
  if (there.empty())
    throw InputError("--run", fmt::format("nobody was there after step {}", checkpoint.step),
                     "another checkpoint");
  if (arguments.mean) return mean_of_rows(checkpoint, parameters, there);
  if (*arguments.replica < 0 || *arguments.replica >= replicas)
    throw InputError("--replica", "found " + std::to_string(*arguments.replica),
                     "0 … " + std::to_string(replicas - 1));
  if (!std::binary_search(there.begin(), there.end(), *arguments.replica))
    throw InputError(
        "--replica",
        fmt::format("found {}, which was gone after step {}", *arguments.replica, checkpoint.step),
        "one of " + Json(there).dump() + ", or --mean");
  return mean_of_rows(checkpoint, parameters, {*arguments.replica});
}

Json config_of(const ModelShape& shape) {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"vocab_size", shape.vocabulary},
          {"hidden_size", shape.hidden},
          {"intermediate_size", shape.ffn},
          {"num_hidden_layers", shape.layers},
          {"num_attention_heads", shape.heads},
          {"num_key_value_heads", shape.heads},
          {"head_dim", shape.hidden / shape.heads},
          {"max_position_embeddings", shape.context},
          {"hidden_act", "silu"},
          {"rms_norm_eps", kNormEpsilon},
          {"rope_theta", kRotaryBase},
          {"rope_scaling", nullptr},
          {"attention_bias", false},
          {"attention_dropout", 0.0},
          {"mlp_bias", false},
          {"tie_word_embeddings", false},
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {"pad_token_id", nullptr},
          {"torch_dtype", "float32"}};
}

void write_model(const std::string& file, const ModelShape& shape, const std::vector<float>& weights) {
  std::vector<TensorView> tensors;
  for (const Parameter& parameter : parameter_layout(shape)) {
    std::vector<std::int64_t> size = {parameter.rows, parameter.columns};
    if (parameter.is_norm) size.erase(size.begin());
    tensors.push_back({huggingface_name(parameter.name), "F32", size, weights.data() + parameter.offset});
  }
  write_safetensors(file, tensors, {{"format", "pt"}});  // transformers refuses files without it
}

std::string utf8(int code) {  // below 2^11
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// The tokenizers package writes a byte as a printable character, as GPT-2's encoder.py does
// (bytes_to_unicode): itself where it is printable in Latin-1, else the next from U+0100 on. Token = byte;
// there are no merges.
std::string byte_tokenizer() {
  Json vocabulary = Json::object();
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    vocabulary[utf8(is_printable ? byte : next++)] = byte;
  }
  const Json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", Json::array()},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", bytes},
                          {"post_processor", nullptr},
                          {"decoder", bytes},
                          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}}};
  return tokenizer.dump(1) + "\n";
}

std::optional<std::string> tokenizer_of(const DataSpec& data, const std::string& folder) {
  if (data.kind == DataSpec::Kind::kSynthetic) return std::nullopt;
  if (data.kind != DataSpec::Kind::kShards) return byte_tokenizer();
  const std::vector<std::string> shards = files_matching(data.globs.front(), folder);
  if (shards.empty()) return std::nullopt;
  return read_file((fs::path(shards[0]).parent_path() / "tokenizer.json").string());
}

// The tokenizer beside an exported model, so that transformers' AutoTokenizer finds it. Writes tokenizer.json
// and tokenizer_config.json into `out`: for shards the tokenizer.json beside the first of them (where
// `python -m longhaul.shards` puts it), for texts and corpora one whose tokens are the bytes. Writes nothing
// where `case_file` does not exist, the shards have no tokenizer beside them or the data is synthetic. Throws
// InputError for a damaged case, RunError where `out` cannot be written.
void write_tokenizer(const std::string& case_file, const std::string& out) {
  if (!fs::exists(case_file)) return;
  const Case trained = read_case(case_file);
  const std::optional<std::string> tokenizer = tokenizer_of(trained.train->data, trained.folder);
  if (!tokenizer) return;
  write_durably(out + "/tokenizer.json", *tokenizer);
  // Without it AutoTokenizer would take LLaMA's own class, which adds a space and a first token.
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"model_max_length", trained.train->model.context},
                       {"clean_up_tokenization_spaces", false}};
  write_durably(out + "/tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace

std::string huggingface_name(const std::string& parameter) {
  if (parameter == "embedding") return "model.embed_tokens.weight";
  if (parameter == "output") return "lm_head.weight";
  for (const auto& [ours, theirs] : kNames) {
    const std::size_t at = parameter.find(ours);
    if (at != std::string::npos) return "model." + parameter.substr(0, at) + theirs + ".weight";
  }
  return "model." + parameter + ".weight";  // norm
}

int run_export(const ExportArguments& arguments) {
  const Checkpoint checkpoint = checkpoint_of(training_folder(arguments));
  const ModelShape shape = parse_model(checkpoint.state.at("model"), "model");
  const std::vector<float> weights = chosen_weights(arguments, checkpoint, shape.parameters());
  std::error_code error;
  fs::create_directories(arguments.out, error);
  write_model(arguments.out + "/model.safetensors", shape, weights);
  write_durably(arguments.out + "/config.json", config_of(shape).dump(2) + "\n");
  write_tokenizer((fs::path(checkpoint.tensors_file).parent_path().parent_path() / "case.json").string(),
                  arguments.out);
  return checkpoint.step;
}

}  // namespace longhaul
