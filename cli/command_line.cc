#include "cli/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/command_line_error.h"
#include "core/base/errors.h"
#include "core/base/option_docs.h"

namespace longhaul {
namespace {

// As shells want lists.
std::string listed(const std::vector<std::string>& words) {
  return join(words, " ");
}

// Inside single quotes of a shell.
std::string shell_quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + safe + "'";
}

// The first sentence or clause, for menus.
std::string short_about(const std::string& text) {
  const std::size_t end = text.find_first_of(";(\n");
  std::string about = end == std::string::npos ? text : text.substr(0, end);
  while (!about.empty() && about.back() == ' ') about.pop_back();
  return about;
}

void add_dotted_keys(const Node& node, const std::string& path, std::vector<std::string>& keys) {
  for (const Node& child : node.children) {
    const std::string key = child_path(path, child.key);
    if (child.key.rfind('$', 0) == 0 || key == "methods" || key == "claims" || key == "sweep" ||
        key == "validation")
      continue;
    const bool has_keys = child.kind == NodeKind::kSection || child.kind == NodeKind::kOneOf;
    if (has_keys)
      add_dotted_keys(child, key, keys);
    else
      keys.push_back(key);
  }
}

// --- bash

std::string bash_words(const std::vector<std::string>& words) {
  return fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))", shell_quoted(listed(words)));
}

// What completes the value of an option, or the positional argument.
std::string bash_value(const CLI::Option& option, const std::vector<std::string>& keys) {
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty())
    return bash_words(choices);
  if (option.get_name() == "--set") {
    std::vector<std::string> assignments;
    for (const std::string& key : keys) assignments.push_back(key + "=");
    return bash_words(assignments) + "; compopt -o nospace 2>/dev/null";
  }
  return "COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames 2>/dev/null";
}

std::string bash_command(const CLI::App& command, const std::vector<std::string>& keys) {
  std::string text = fmt::format("    {})\n      case \"$prev\" in\n", command.get_name());
  for (const CLI::Option* option : options_of(command))
    if (takes_value(*option))
      text += fmt::format("        {}) {}; return ;;\n", join(spellings(*option), "|"),
                          bash_value(*option, keys));
  text += fmt::format("      esac\n      if [[ $cur == -* ]]; then {}; return; fi\n",
                      bash_words(all_spellings(command)));
  const std::vector<const CLI::Option*> positionals = positionals_of(command);
  if (!positionals.empty()) text += "      " + bash_value(*positionals.front(), keys) + "\n";
  return text + "      ;;\n";
}

std::string bash_script(const CLI::App& app, const std::vector<std::string>& keys) {
  std::string text =
      "# bash completion of longhaul; written by `longhaul completion bash`\n"
      "_longhaul() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" command= word\n"
      "  COMPREPLY=()\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    if [[ $word != -* ]]; then command=$word; break; fi\n"
      "  done\n"
      "  case \"$command\" in\n";
  std::vector<std::string> first = names_of(commands_of(app));
  for (const std::string& word : all_spellings(app)) first.push_back(word);
  text += fmt::format("    '') {} ;;\n", bash_words(first));
  for (const CLI::App* command : commands_of(app)) text += bash_command(*command, keys);
  return text + "  esac\n}\ncomplete -F _longhaul longhaul\n";
}

// --- fish

std::string fish_option(const CLI::App& command, const CLI::Option& option,
                        const std::vector<std::string>& keys) {
  std::string line =
      fmt::format("complete -c longhaul -n '__fish_seen_subcommand_from {}'", command.get_name());
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  const std::vector<std::string> choices = choices_of(option);
  if (!choices.empty())
    line += " -x -a " + shell_quoted(listed(choices));
  else if (option.get_name() == "--set")
    line += " -x -a " + shell_quoted(listed(keys));
  else if (takes_value(option))
    line += " -r";
  return line + " -d " + shell_quoted(short_about(option.get_description())) + "\n";
}

std::string fish_script(const CLI::App& app, const std::vector<std::string>& keys) {
  std::string text = "# fish completion of longhaul; written by `longhaul completion fish`\n";
  for (const CLI::App* command : commands_of(app))
    text += fmt::format("complete -c longhaul -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                        shell_quoted(short_about(command->get_description())));
  for (const CLI::App* command : commands_of(app)) {
    for (const CLI::Option* option : options_of(*command)) text += fish_option(*command, *option, keys);
    for (const CLI::Option* option : positionals_of(*command))
      if (const std::vector<std::string> choices = choices_of(*option); !choices.empty())
        text += fmt::format("complete -c longhaul -n '__fish_seen_subcommand_from {}' -f -a {}\n",
                            command->get_name(), shell_quoted(listed(choices)));
  }
  return text;
}

// --- zsh

// Inside the brackets of a specification of _arguments.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : short_about(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_values(const CLI::Option& option, const std::vector<std::string>& keys) {
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty())
    return fmt::format("({})", listed(choices));
  return option.get_name() == "--set" ? fmt::format("compadd -S \\= -- {}", listed(keys)) : "_files";
}

std::string zsh_command(const CLI::App& command, const std::vector<std::string>& keys) {
  std::string text = fmt::format("    {})\n      _arguments", command.get_name());
  for (const CLI::Option* option : options_of(command)) {
    const std::string star = option->get_name() == "--set" ? "*" : "";
    for (const std::string& word : spellings(*option)) {
      std::string line = fmt::format("{}{}[{}]", star, word, zsh_text(option->get_description()));
      if (takes_value(*option)) line += ":value:" + zsh_values(*option, keys);
      text += " \\\n        " + shell_quoted(line);
    }
  }
  int place = 0;
  for (const CLI::Option* option : positionals_of(command)) {
    const std::string which = option->get_items_expected_max() > 1 ? "*" : std::to_string(++place);
    text += " \\\n        " +
            shell_quoted(fmt::format("{}:{}:{}", which, option->get_name(), zsh_values(*option, keys)));
  }
  return text + "\n      ;;\n";
}

std::string zsh_script(const CLI::App& app, const std::vector<std::string>& keys) {
  std::string text =
      "#compdef longhaul\n"
      "# zsh completion of longhaul; written by `longhaul completion zsh`\n"
      "_longhaul() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CLI::App* command : commands_of(app))
    text += fmt::format("    {}\n",
                        shell_quoted(command->get_name() + ":" + zsh_text(command->get_description())));
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CLI::App* command : commands_of(app)) text += zsh_command(*command, keys);
  return text +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _longhaul ]; then _longhaul \"$@\"; else compdef _longhaul longhaul; fi\n";
}

// --- man

// A line of text: no letter of it is a request, a hyphen is a minus that can be copied.
std::string roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
  }
  return !safe.empty() && (safe[0] == '.' || safe[0] == '\'') ? "\\&" + safe : safe;
}

std::string roff_lines(const std::string& text) {
  std::string lines, line;
  for (const char c : text + "\n") {
    if (c != '\n')
      line += c;
    else
      lines += roff(std::exchange(line, "")) + "\n";
  }
  return lines;
}

std::string man_option(const CLI::Option& option) {
  const std::vector<std::string> choices = choices_of(option);
  std::string head =
      "\\fB" + roff(option.get_positional() ? option.get_name() : join(spellings(option))) + "\\fR";
  if (!option.get_positional() && takes_value(option))
    head += " \\fI" + roff(choices.empty() ? "value" : join(choices, "|")) + "\\fR";
  std::string about = option.get_description();
  if (const std::string value = option.get_default_str();
      !value.empty() && about.find("default") == std::string::npos)
    about += fmt::format(" (default {})", value);
  return ".TP\n" + head + "\n" + roff_lines(about);
}

// Entries of help_text(): the key, then indented lines.
std::string man_options_of_scenario(const Node& scenario) {
  std::string text, line;
  bool is_first = true;
  for (const char c : help_text(scenario)) {
    if (c != '\n') {
      line += c;
      continue;
    }
    const bool is_key = line.rfind(' ', 0) != 0;
    if (is_key)
      text += ".TP\n\\fB" + roff(line) + "\\fR\n";
    else
      text += (is_first ? "" : ".br\n") +
              roff(line.substr(std::min(line.size(), line.find_first_not_of(' ')))) + "\n";
    is_first = is_key;
    line.clear();
  }
  return text;
}

}  // namespace

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::vector<std::string> dotted_keys(const Node& scenario) {
  std::vector<std::string> keys;
  add_dotted_keys(scenario, "", keys);
  return keys;
}

std::string completion_script(const CLI::App& app, const Node& scenario, const std::string& shell) {
  const std::vector<std::string> keys = dotted_keys(scenario);
  if (shell == "zsh") return zsh_script(app, keys);
  return shell == "fish" ? fish_script(app, keys) : bash_script(app, keys);
}

std::string man_page(const CLI::App& app, const Node& scenario, const std::string& version) {
  std::string text = fmt::format(".TH LONGHAUL 1 \"\" \"longhaul {}\" \"User Commands\"\n", version);
  text += ".SH NAME\nlonghaul \\- loss of low\\-communication training against simulated time\n";
  text += ".SH SYNOPSIS\n.B longhaul\n.I command\n[options]\n";
  text += ".SH DESCRIPTION\n" + roff_lines(app.get_description());
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) {
    text += ".SS " + roff(usage_of(*command)) + "\n" + roff_lines(command->get_description());
    for (const CLI::Option* option : positionals_of(*command)) text += man_option(*option);
    for (const CLI::Option* option : options_of(*command))
      if (option->get_name() != "--help") text += man_option(*option);
  }
  text +=
      ".SH OPTIONS OF A SCENARIO\nA scenario is a JSON file. Its keys:\n" + man_options_of_scenario(scenario);
  return text + ".SH EXIT STATUS\n0 done, 1 the run failed, 2 the input is wrong, 130 interrupted.\n";
}

}  // namespace longhaul
