// The command as it was typed: for a shell, and as what continues it. A message that names a command to type
// next has all of its arguments, since without --set the scenario is another one.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

// A word of a POSIX shell: as it is where no letter of it has a meaning there, else in single quotes.
std::string shell_word(const std::string& word);
// The words with spaces between them, each as above.
std::string shell_line(const std::vector<std::string>& words);

// `command` without the options `values`, each of which has a value ("--out DIR", "--out=DIR", "-oDIR"), and
// without `flags`.
std::vector<std::string> without_options(const std::vector<std::string>& command,
                                         const std::vector<std::string>& values,
                                         const std::vector<std::string>& flags = {});

// `command` as a line of a shell, with `--resume` in `folder`, which `--out` or another option names.
// `values`: options that do not continue it, beside that of the folder and --overwrite.
std::string resuming_command(const std::vector<std::string>& command, const std::string& folder_option,
                             const std::string& folder, std::vector<std::string> values = {});

}  // namespace longhaul
