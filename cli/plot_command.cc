#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/comparison/budget_loss.h"
#include "analysis/run_files.h"
#include "analysis/text.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const PlotOptions& options) {
  if (!options.out.empty()) return options.out;
  return options.runs.size() == 1 ? options.runs[0] + "/figures" : "figures";
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw InputError({folder, "", "cannot be made" + (error ? " (" + error.message() + ")" : std::string()),
                      "a folder that can be written to (-o)", ""});
}

void draw(const std::string& gnuplot, const std::string& folder, const std::vector<Figure>& figures) {
  std::vector<std::string> command = {gnuplot};
  for (const Figure& figure : figures) command.push_back(figure.name + ".gp");
  const std::string log = folder + "/gnuplot.log";
  fs::remove(log);
  const int status = wait_for(start_process(command, log, folder));
  std::ifstream in(log);
  const std::string said(std::istreambuf_iterator<char>(in), {});
  if (status != 0) throw RunError(fmt::format("gnuplot failed with status {}: {}", status, said));
  if (!said.empty()) std::fprintf(stderr, "gnuplot: %s\n", said.c_str());
  fs::remove(log);
}

constexpr std::size_t kManyFigures = 24;

void list_figures(const std::vector<Figure>& figures) {
  for (const Figure& figure : figures)
    std::printf("%s: %s\n", figure.name.c_str(), figure_title(figure).c_str());
}

}  // namespace

std::string found_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream in(path ? path : "");
  for (std::string folder; std::getline(in, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return fs::absolute(file).string();
  }
  return "";
}

int plot_command(const PlotOptions& options) {
  FigureRequest request = options.request;
  request.style = {options.size == "double", options.formats, options.log_x};
  const std::string gnuplot = found_on_path("gnuplot");
  if (gnuplot.empty() && !options.list)
    throw InputError("", "gnuplot was not found, which draws the figures", "gnuplot 5 on the search path",
                     "Debian: apt-get install gnuplot-nox");
  RunDirectories opened = open_runs(options.runs);
  add_budget_losses(request.metrics, opened.runs);
  warn(opened.problems);
  const Figures made = figures_of(opened.runs, request);
  warn(made.notes);
  if (made.figures.empty())
    throw RunError("there is nothing to draw: no finished case has tables or numbers");
  if (options.list) {
    list_figures(made.figures);
    return kDone;
  }
  if (made.figures.size() > kManyFigures)
    warn({fmt::format(
        "{} figures are made; longhaul plot --list names them, --only NAME and --where key=value "
        "choose some",
        made.figures.size())});
  const std::string folder = folder_of(options);
  make_folder(folder);
  for (const Figure& figure : made.figures) {
    write_file(folder + "/" + figure.name + ".dat", figure.dat);
    write_file(folder + "/" + figure.name + ".gp", figure.gp);
  }
  draw(gnuplot, folder, made.figures);
  std::printf("%zu figures (%s): %s\n", made.figures.size(), join(request.style.formats).c_str(),
              folder.c_str());
  return kDone;
}

}  // namespace longhaul
