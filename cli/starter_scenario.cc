#include "cli/starter_scenario.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "analysis/text.h"
#include "core/base/errors.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

constexpr int kMostAsked = 4096, kMostSeeds = 100;

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Separated by commas or blanks, each once.
std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::stringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) add_new(word, words);
  return words;
}

// Questions on a terminal: each with what is allowed and what an empty answer means. At the end of the input
// every answer is the default.
class Questions {
 public:
  Questions(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  // One of `allowed`; asked again until it is.
  std::string choice(const std::string& question, const std::vector<std::string>& allowed,
                     const std::string& by_default) {
    std::string answer;
    while (ask(question + " (" + join(allowed) + ")", by_default, answer)) {
      if (contains(allowed, answer)) return answer;
      out_ << "\"" << answer << "\" is none of " << join(allowed) << "\n";
    }
    return by_default;
  }

  // Some of `allowed`, at least one.
  std::vector<std::string> choices(const std::string& question, const std::vector<std::string>& allowed,
                                   const std::vector<std::string>& by_default) {
    std::string answer;
    while (ask(question + " (some of " + join(allowed) + ")", join(by_default), answer)) {
      const std::vector<std::string> words = words_of(answer);
      const auto unknown = std::find_if(words.begin(), words.end(),
                                        [&](const auto& word) { return !contains(allowed, word); });
      if (unknown == words.end() && !words.empty()) return words;
      out_ << "\"" << (words.empty() ? answer : *unknown) << "\" is none of " << join(allowed) << "\n";
    }
    return by_default;
  }

  // Anything; "" is the default.
  std::string line(const std::string& question) {
    std::string answer;
    ask(question, "", answer);
    return answer;
  }

  int number(const std::string& question, int least, int most, int by_default) {
    std::string answer;
    while (ask(question, std::to_string(by_default), answer)) {
      int value = 0;
      const auto read = std::from_chars(answer.data(), answer.data() + answer.size(), value);
      if (read.ec == std::errc() && read.ptr == answer.data() + answer.size() && value >= least &&
          value <= most)
        return value;
      out_ << "\"" << answer << "\" is no number from " << least << " to " << most << "\n";
    }
    return by_default;
  }

 private:
  // False where the default is meant.
  bool ask(const std::string& question, const std::string& by_default, std::string& answer) {
    out_ << question << " [" << by_default << "]: " << std::flush;
    std::string line;
    if (!std::getline(in_, line)) return false;
    answer = trimmed(line);
    return !answer.empty();
  }

  std::istream& in_;
  std::ostream& out_;
};

// Outer steps as often as in the quickstart where a short training needs several of them, else the published
// ones.
Json method_of(const std::string& name, bool train) {
  Json method = {{"name", name}};
  if (name == "diloco") method["inner_steps"] = train ? 20 : 100;
  if (name == "noloco") method["inner_steps"] = train ? 10 : 50;
  return method;
}

Json topology_of(const std::string& network) {
  if (network == "regions")
    return {{"regions", {{"matrix", "aws-2022"}, {"replicas", "even"}, {"rate", "10Gbps"}}}};
  if (network == "homes")
    return {
        {"homes", {{"up", {{"median", "22.6Mbps"}}}, {"down", {{"median", "193.7Mbps"}}}, {"rtt", "14ms"}}}};
  if (network == "mesh") return {{"mesh", {{"rate", "1Gbps"}, {"rtt", "100ms"}}}};
  if (network == "hierarchical")
    return {{"hierarchical",
             {{"sites", 2},
              {"inside", {{"rate", "10Gbps"}, {"rtt", "1ms"}}},
              {"trunk", {{"rate", "1Gbps"}, {"rtt", "100ms"}}}}}};
  return {{"star", {{"rate", "1Gbps"}, {"rtt", "100ms"}}}};
}

Json training(const std::vector<std::string>& text) {
  const Json data = text.empty() ? Json{{"corpus", "system-headers"}} : Json{{"text", text}};
  return {{"steps", 200},
          {"model", {{"hidden", 96}, {"layers", 3}, {"heads", 4}, {"ffn", 256}, {"context", 128}}},
          {"data", data},
          {"batch", 4},
          {"optimizer", {{"lr", 1e-3}}}};
}

Json workload(bool train) {
  Json workload = {{"model", "llama-small"}, {"wire", "bf16"}};
  if (!train) workload["steps"] = 200;
  workload["step_time"] = {{"lognormal", {{"mean", "1s"}, {"sigma", 0.3}}}};
  return workload;
}

}  // namespace

const std::vector<std::string>& starter_networks() {
  static const std::vector<std::string> names = {"star", "regions", "homes", "hierarchical", "mesh"};
  return names;
}

std::vector<std::string> starter_methods() {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.push_back(method.name);
  return names;
}

StarterChoices starter_choices(const NewOptions& options, std::istream* in, std::ostream& out) {
  StarterChoices choices;
  choices.name = std::filesystem::path(options.out).stem().string();
  if (in) {
    Questions ask(*in, out);
    if (!options.train)
      choices.train = ask.choice("Train replicas, or only simulate the network?", {"train", "network"},
                                 "train") == "train";
    const bool trains = options.train.value_or(choices.train);
    if (trains && options.text.empty())
      choices.text = words_of(
          ask.line("Text to train on: files or globs, relative to the scenario; nothing: the C and C++ "
                   "headers of this machine"));
    if (options.methods.empty()) choices.methods = ask.choices("Methods", starter_methods(), choices.methods);
    if (!options.replicas) choices.replicas = ask.number("Replicas", 1, kMostAsked, choices.replicas);
    if (options.network.empty()) choices.network = ask.choice("Network", starter_networks(), choices.network);
    if (!options.seeds) choices.seeds = ask.number("Seeds", 1, kMostSeeds, choices.seeds);
  }
  if (options.train) choices.train = *options.train;
  if (!options.methods.empty()) choices.methods = options.methods;
  if (options.replicas) choices.replicas = *options.replicas;
  if (!options.network.empty()) choices.network = options.network;
  if (options.seeds) choices.seeds = *options.seeds;
  if (!options.text.empty()) choices.text = options.text;
  return choices;
}

Json starter_scenario(const StarterChoices& choices) {
  Json scenario = {{"name", choices.name}};
  Json seeds = Json::array(), methods = Json::array();
  for (int seed = 1; seed <= choices.seeds; ++seed) seeds.push_back(seed);
  for (const std::string& name : choices.methods) methods.push_back(method_of(name, choices.train));
  scenario["seeds"] = seeds;
  scenario["replicas"] = choices.replicas;
  scenario["methods"] = methods;
  if (choices.train) scenario["train"] = training(choices.text);
  scenario["workload"] = workload(choices.train);
  scenario["network"] = {{"fidelity", "flow"},
                         {"topology", topology_of(choices.network)},
                         {"tcp", {{"connections", 1}, {"congestion_control", "cubic"}, {"queue", "host"}}}};
  if (contains(choices.methods, "diloco") && contains(choices.methods, "noloco"))
    scenario["claims"] = {{{"id", "order-of-magnitude"},
                           {"statement", "NoLoCo synchronizes ten times faster than DiLoCo"},
                           {"ratio", "sync_time_s.mean"},
                           {"of", "diloco"},
                           {"to", "noloco"},
                           {"at_least", 10}}};
  return scenario;
}

}  // namespace longhaul
