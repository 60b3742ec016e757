#include "core/base/option_synonyms.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace longhaul {
namespace {

std::string in_small_letters(std::string word) {
  for (char& c : word) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

// The path of the option, and the value behind "=" if the entry has one.
std::pair<std::string, std::string> parts_of(const OptionSynonym& other) {
  const std::string path = other.path;
  const std::size_t equals = path.find('=');
  return {path.substr(0, equals), equals == std::string::npos ? "" : path.substr(equals + 1)};
}

// What stands where the user wrote the word: a key, or a value.
std::string name_of(const OptionSynonym& other) {
  const auto [path, value] = parts_of(other);
  return value.empty() ? path.substr(path.rfind('.') + 1) : value;
}

// A key of one method as --set and sweeps address it.
std::string written_path(const std::string& path) {
  const std::string methods = "methods.";
  if (path.rfind(methods, 0) != 0) return path;
  return methods + "LABEL" + path.substr(path.find('.', methods.size()));
}

constexpr OptionSynonym kWords[] = {
    // replicas and steps
    {"nodes", "replicas", ""},
    {"workers", "replicas", ""},
    {"workers", "nodes", ""},
    {"world_size", "replicas", ""},
    {"world_size", "nodes", ""},
    {"num_replicas", "replicas", ""},
    {"num_workers", "replicas", ""},
    {"h", "methods.diloco.inner_steps", ""},
    {"h", "candidates.inner_steps", ""},
    {"local_steps", "methods.diloco.inner_steps", ""},
    {"sync_every", "methods.diloco.inner_steps", ""},
    {"max_steps", "train.steps", ""},
    {"iterations", "train.steps", ""},
    // the network
    {"bandwidth", "network.topology.star.rate", ""},
    {"bandwidth", "sites.rate", ""},
    {"throughput", "network.topology.star.rate", ""},
    {"latency", "network.topology.star.rtt", " (there and back)"},
    {"latency", "paths.rtt", " (there and back)"},
    {"latency", "network.overrides.delay", " (one way)"},
    {"delay", "network.topology.star.rtt", " (there and back: twice the delay)"},
    {"ping", "network.topology.star.rtt", ""},
    {"rtt", "network.overrides.delay", " (one way: half of the round trip)"},
    {"loss", "network.tcp.loss", " (of packets, on every link; on one link for a time: faults of kind link)"},
    {"packet_loss", "network.tcp.loss", ""},
    {"background", "network.variation.background", ""},
    {"cross_traffic", "network.variation.background", ""},
    {"jitter", "network.variation.jitter", ""},
    {"streams", "network.tcp.connections", ""},
    {"mtu", "network.tcp.segment", " (the payload of a packet)"},
    {"mss", "network.tcp.segment", ""},
    {"buffer", "network.tcp.queue_size", ""},
    // what goes wrong
    {"stragglers", "workload.step_time_factors", " (slow all the time), or faults of kind slow"},
    {"failures", "faults", ""},
    {"crashes", "faults.crash", ""},
    {"outages", "faults.site", ""},
    {"dropout", "faults.crash", ", or faults of kind link"},
    // the model and its training
    {"lr", "train.optimizer.lr", ""},
    {"learning_rate", "train.optimizer.lr", ""},
    {"outer_learning_rate", "methods.diloco.outer_lr", ""},
    {"momentum", "methods.diloco.outer_momentum", ""},
    {"warmup_steps", "train.optimizer.warmup", ""},
    {"grad_clip", "train.optimizer.clip", ""},
    {"batch_size", "train.batch", ""},
    {"seq_len", "train.model.context", ""},
    {"sequence_length", "train.model.context", ""},
    {"n_layers", "train.model.layers", ""},
    {"num_layers", "train.model.layers", ""},
    {"n_heads", "train.model.heads", ""},
    {"num_heads", "train.model.heads", ""},
    {"num_key_value_heads", "workload.model.kv_heads", ""},
    {"n_kv_heads", "workload.model.kv_heads", ""},
    {"head_dim", "workload.model.head_width", ""},
    {"tie_word_embeddings", "workload.model.tied", ""},
    {"hidden_size", "train.model.hidden", ""},
    {"d_model", "train.model.hidden", ""},
    {"vocab_size", "train.model.vocabulary", ""},
    {"dataset", "train.data", ""},
    {"mfu", "workload.step_time.flops.utilisation", ""},
    {"mfu", "accelerator.utilization", ""},
    {"gpu", "train.device=cuda", ""},
    {"gpu", "accelerator", ""},
    // what travels
    {"compression", "methods.diloco.codec", ""},
    {"quantization", "methods.diloco.codec", ""},
    {"dtype", "workload.wire", " (of what travels); train.precision is that of the products"},
    {"overlap", "methods.ddp.overlap_backward", ""},
    {"allreduce", "methods.ddp.all_reduce", ""},
    {"collective", "methods.ddp.all_reduce", ""},
    {"float32", "workload.wire=fp32", ""},
    {"fp32", "train.precision=float32", ""},
    {"bfloat16", "workload.wire=bf16", ""},
    {"float16", "workload.wire=fp16", ""},
    {"half", "workload.wire=fp16", ""},
    {"fp8", "workload.wire=int8", " (as many bytes; there is no fp8)"},
    {"int4", "methods.diloco.codec=int4", ""},
    {"fp4", "methods.diloco.codec=e3m0", " (a sign and three bits of exponent)"},
};

}  // namespace

const std::vector<OptionSynonym>& option_synonyms() {
  static const std::vector<OptionSynonym> words(std::begin(kWords), std::end(kWords));
  return words;
}

std::string synonym_among(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string written = in_small_letters(word);
  for (const OptionSynonym& other : option_synonyms())
    if (written == other.word &&
        std::find(candidates.begin(), candidates.end(), name_of(other)) != candidates.end())
      return fmt::format("did you mean \"{}\"{}?", name_of(other), other.remark);
  return "";
}

std::string place_of_synonym(const std::string& word, const Node& root) {
  const std::string written = in_small_letters(word);
  for (const OptionSynonym& other : option_synonyms()) {
    const auto [path, value] = parts_of(other);
    if (written == other.word && option_on_path(root, path))
      return fmt::format("that is {}{} here{}", written_path(path), value.empty() ? "" : " \"" + value + "\"",
                         other.remark);
  }
  return "";
}

}  // namespace longhaul
