#include "cli/new_command.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/run_outputs.h"
#include "cli/validated_scenario.h"
#include "core/errors.h"
#include "core/option_docs.h"
#include "methods/common/registry.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

constexpr int kMostReplicas = 4096, kMostSeeds = 100;

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.push_back(method.name);
  return names;
}

std::string header(const std::string& file) {
  return "// A scenario of Longhaul, to be changed: every value here has a default or can be another one.\n"
         "//   longhaul check " +
         file +
         "     validates it, lists its cases, estimates the time\n"
         "//   longhaul run " +
         file +
         "       runs it and writes a report\n"
         "//   longhaul list options     all that a scenario can say\n"
         "// To vary something, add for example\n"
         "//   \"sweep\": {\"replicas\": [4, 8, 16], \"network.tcp.connections\": [1, 8]}\n";
}

// Checked under another name, so that a file that is wrong never stands there.
void write_checked(const std::string& file, const std::string& text) {
  const std::string draft = file + ".draft";
  write_file(draft, text);
  try {
    validated_scenario(draft, {});
  } catch (const InputError& error) {
    fs::remove(draft);
    InputErrorParts parts = error.parts();
    parts.file = "";
    parts.hint += (parts.hint.empty() ? "" : "; ") + std::string("choose otherwise, nothing was written");
    throw InputError(parts);
  }
  fs::rename(draft, file);
}

}  // namespace

StarterChoices starter_choices(const NewOptions& options, std::istream* in, std::ostream& out) {
  StarterChoices choices;
  choices.name = fs::path(options.out).stem().string();
  if (in) {
    Questions ask(*in, out);
    if (!options.train)
      choices.train = ask.choice("Train replicas, or only simulate the network?", {"train", "network"},
                                 "train") == "train";
    if (options.methods.empty()) choices.methods = ask.choices("Methods", method_names(), choices.methods);
    if (!options.replicas) choices.replicas = ask.number("Replicas", 1, kMostReplicas, choices.replicas);
    if (options.network.empty()) choices.network = ask.choice("Network", starter_networks(), choices.network);
    if (!options.seeds) choices.seeds = ask.number("Seeds", 1, kMostSeeds, choices.seeds);
  }
  if (options.train) choices.train = *options.train;
  if (!options.methods.empty()) choices.methods = options.methods;
  if (options.replicas) choices.replicas = *options.replicas;
  if (!options.network.empty()) choices.network = options.network;
  if (options.seeds) choices.seeds = *options.seeds;
  return choices;
}

int new_command(const NewOptions& options) {
  if (fs::exists(options.out))
    throw InputError({options.out, "", "exists already", "the name of a new file (-o)", ""});
  for (const std::string& name : options.methods) {
    const std::vector<std::string> known = method_names();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(
          {"", "--methods", "found \"" + name + "\"", join(known),
           nearest(name, known).empty() ? "" : "did you mean \"" + nearest(name, known) + "\"?"});
  }
  const bool asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  const StarterChoices choices = starter_choices(options, asks ? &std::cin : nullptr, std::cout);
  write_checked(options.out,
                header(options.out) + commented_json(scenario_declaration(), starter_scenario(choices)));
  std::printf("%s is written and valid; next: longhaul check %s\n", options.out.c_str(), options.out.c_str());
  return 0;
}

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::stringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    if (!contains(words, word)) words.push_back(word);
  return words;
}

}  // namespace

// False where the default is meant.
bool Questions::ask(const std::string& question, const std::string& by_default, std::string& answer) {
  out_ << question << " [" << by_default << "]: " << std::flush;
  std::string line;
  if (!std::getline(in_, line)) return false;
  answer = trimmed(line);
  return !answer.empty();
}

std::string Questions::choice(const std::string& question, const std::vector<std::string>& allowed,
                              const std::string& by_default) {
  std::string answer;
  while (ask(question + " (" + join(allowed) + ")", by_default, answer)) {
    if (contains(allowed, answer)) return answer;
    out_ << "\"" << answer << "\" is none of " << join(allowed) << "\n";
  }
  return by_default;
}

std::vector<std::string> Questions::choices(const std::string& question,
                                            const std::vector<std::string>& allowed,
                                            const std::vector<std::string>& by_default) {
  std::string answer;
  while (ask(question + " (some of " + join(allowed) + ")", join(by_default), answer)) {
    const std::vector<std::string> words = words_of(answer);
    const auto unknown =
        std::find_if(words.begin(), words.end(), [&](const auto& word) { return !contains(allowed, word); });
    if (unknown == words.end() && !words.empty()) return words;
    out_ << "\"" << (words.empty() ? answer : *unknown) << "\" is none of " << join(allowed) << "\n";
  }
  return by_default;
}

int Questions::number(const std::string& question, int least, int most, int by_default) {
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

}  // namespace longhaul
