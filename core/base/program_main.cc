#include "core/base/program_main.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/printable.h"

namespace longhaul {
namespace {

// Of a pipe or a socket. Where an earlier write found it out, the reason is no longer in errno.
bool is_reader_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}

}  // namespace

int program_main(const std::string& program, const std::function<int()>& body) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f then fails with EFBIG, which is said
  const int status = body();
  errno = 0;
  std::cout.flush();
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && !std::ferror(stdout) && std::cout.good()) return status;
  const int reason = errno;
  if (status != kDone || is_reader_gone()) return status;
  errno = reason;
  say(stderr, fmt::format("{}: error: {}\n", program, unwritable("standard output").what()));
  return kRunFailed;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

namespace {

// "longhaul run", "longhaul-train"
std::string program_of(const CLI::App& command) {
  return (command.get_parent() ? command.get_parent()->get_name() + " " : "") + command.get_name();
}

// "-o", "--output", ...: those of a positional are none.
std::vector<std::string> spellings(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

// The fixed values of an option, from what its check says of itself: "TEXT:{cpu,cuda,auto}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  std::istringstream words(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

// "longhaul run SCENARIO"
std::string usage_of(const CLI::App& command) {
  std::string text = program_of(command);
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) text += " " + option->get_name();
  return text;
}

std::string help_of(const CLI::App& command) {
  return program_of(command) + " --help";
}

// "Value 0 not in range 1 to 1024"; a range without an end has the largest number, in 309 digits.
std::optional<InputError> range_error(const std::string& path, const std::string& said) {
  const std::string value = "Value ", range = " not in range ", to = " to ";
  const std::size_t at = said.find(range), middle = said.find(to, at);
  if (said.rfind(value, 0) != 0 || at == std::string::npos || middle == std::string::npos) return {};
  const std::string found = said.substr(value.size(), at - value.size()),
                    least = said.substr(at + range.size(), middle - at - range.size()),
                    most = said.substr(middle + to.size());
  constexpr std::size_t kLongestBound = 20;  // of an integer of 64 bits
  return InputError(path, "found " + found,
                    most.size() > kLongestBound ? "a number above 0" : least + " to " + most);
}

// "Could not convert: --seed = one".
std::optional<InputError> conversion_error(const CLI::App& command, const std::string& what) {
  constexpr std::string_view kBegin = "Could not convert: ", kIs = " = ";
  const std::size_t is = what.find(kIs);
  if (what.rfind(kBegin, 0) != 0 || is == std::string::npos) return std::nullopt;
  const std::string path = what.substr(kBegin.size(), is - kBegin.size());
  const CLI::Option* option = command.get_option_no_throw(path);
  const std::string type = option ? option->get_type_name() : "";
  return InputError(path, "found " + what.substr(is + kIs.size()),
                    type == "UINT"  ? "a whole number of at least 0"
                    : type == "INT" ? "a whole number"
                                    : "a number");
}

// What is wrong with one option: "--jobs: Value 0 not in range 1 to 1024", "TOPIC: foo not in {a,b}".
InputError value_error(const CLI::App& command, const std::string& what) {
  if (const std::optional<InputError> conversion = conversion_error(command, what)) return *conversion;
  const std::size_t colon = what.find(": ");
  if (colon == std::string::npos) return InputError("", what, "", help_of(command));
  const std::string path = what.substr(0, colon), said = what.substr(colon + 2);
  if (const std::optional<InputError> range = range_error(path, said)) return *range;
  const std::size_t among = said.find(" not in {");
  if (among == std::string::npos) return InputError(path, said, "", "");
  const std::string found = said.substr(0, among);
  for (const CLI::Option* option : command.get_options())
    if (const std::vector<std::string> choices = choices_of(*option);
        !choices.empty() &&
        (option->get_name() == path || option->get_name(false, true).find(path) != std::string::npos))
      return InputError(path, fmt::format("found \"{}\"", found), join(choices),
                        did_you_mean(found, choices));
  return InputError(path, fmt::format("found \"{}\"", found), said.substr(among + 8), "");
}

// Words that the command has no place for.
InputError extra_error(const CLI::App& command, const std::vector<std::string>& extras) {
  const auto dashed = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& word) { return word.rfind('-', 0) == 0; });
  const std::vector<std::string> commands = names_of(commands_of(command));
  if (dashed == extras.end() && !commands.empty())
    return InputError("", fmt::format("found the command \"{}\"", extras.front()), join(commands),
                      did_you_mean(extras.front(), commands, help_of(command)));
  if (dashed == extras.end())
    return InputError("", fmt::format("found \"{}\", which the command has no place for", extras.front()),
                      usage_of(command), help_of(command));
  const std::string word = dashed->substr(0, dashed->find('='));
  const std::vector<std::string> known = spellings(command);
  return InputError(word, "unknown option of " + command.get_name(), join(known), did_you_mean(word, known));
}

// The option that an error of CLI11 begins with: "--case is required", "--jobs: 1 required INT missing".
InputError missing_error(const CLI::App& command, const std::string& name, const char* what) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return InputError(name, what, option ? option->get_description() : "", help_of(command));
}

// The command that the words are of; null where the program has to have one and the words name none.
const CLI::App* command_of(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto word = std::find_if(arguments.begin(), arguments.end(),
                                 [](const std::string& argument) { return argument.rfind('-', 0) != 0; });
  const std::vector<const CLI::App*> named = app.get_subcommands(
      [&](const CLI::App* known) { return word != arguments.end() && known->get_name() == *word; });
  const CLI::App* command = named.empty() ? nullptr : named.front();
  return command || app.get_require_subcommand_min() > 0 ? command : &app;
}

}  // namespace

std::string check_above_zero(const std::string& text) {
  const bool is_above = std::strtod(text.c_str(), nullptr) > 0;
  return is_above ? CLI::PositiveNumber(text) : "found " + text + "; allowed: a number above 0";
}

InputError command_line_error(const CLI::App& app, const CLI::ParseError& error,
                              const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = names_of(commands_of(app));
  const CLI::App* command = command_of(app, arguments);
  if (!command && arguments.empty()) return InputError("", "a command is missing", join(known), help_of(app));
  if (!command && arguments.front().rfind('-', 0) != 0)
    return InputError("", fmt::format("found the command \"{}\"", arguments.front()), join(known),
                      did_you_mean(arguments.front(), known));
  if (!command) return extra_error(app, arguments);
  const std::vector<std::string> extras = app.remaining(true);
  // A required option that is misspelt is missing too, and CLI11 sees that first.
  const bool is_misspelt = std::any_of(extras.begin(), extras.end(),
                                       [](const std::string& word) { return word.rfind("--", 0) == 0; });
  if (is_misspelt || dynamic_cast<const CLI::ExtrasError*>(&error)) return extra_error(*command, extras);
  const std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error))
    return missing_error(*command, what.substr(0, what.find(" is required")), "is missing");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && what.find(" missing") != std::string::npos)
    return missing_error(*command, what.substr(0, what.find(": ")), "found no value");
  return value_error(*command, what);
}

}  // namespace longhaul
