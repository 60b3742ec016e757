// The commands of longhaul, one function each. It returns the exit status (core/base/errors.h) and throws
// InputError and RunError; options are what the command line says.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/figures/figure_data.h"

namespace longhaul {

struct Case;

struct RunOptions {
  std::string scenario;
  std::string out;                       // empty: results/NAME
  std::vector<std::string> assignments;  // --set
  int jobs = 1;
  int ranks = 1;  // processes of a training
  std::string shard = "1/1";
  std::vector<std::string> only_cases;  // a worker: does these cases in a folder where others do the rest
  std::vector<std::string> trainings;   // runs whose finished trainings are taken
  bool trains_missing = false;          // those that none of them has
  bool list_cases = false;              // only names the cases, with what each takes
  bool resume = false;
  bool overwrite = false;  // the run that --out holds is removed
  std::string only;        // cases, train, replay, report; empty: all
  std::string device;      // empty: the scenario's
  std::string backend;     // of the trainer; empty: its default
  bool quiet = false;
  bool each_seed = false;            // in the table at the end
  bool all_columns = false;          // of that table
  bool silent = false;               // not even the report's path on standard output
  bool warns = true;                 // of what stands in the scenario and does not count
  bool emulates = false;             // replays on the kernel's TCP instead (emulation/)
  std::vector<std::string> command;  // as typed, for the manifest
};

// Trains, replays, and writes the run directory.
int run_command(const RunOptions& options);

struct CheckOptions {
  std::string scenario;
  std::vector<std::string> assignments;  // --set
  bool all_cases = false;                // list them all
  bool resolved = false;                 // only the scenario with every default filled in, as JSON
  bool json = false;                     // all there is to say, as JSON
  bool anywhere = false;                 // not against this machine's memory and disk
};

// Validates only: lists the cases, and says last whether the scenario is valid and what it takes in time,
// memory and disk. Throws InputError also for a training that needs more memory than this machine has.
int check_command(const CheckOptions& options);

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out;  // empty: RUN/report.html, or report.html for several
};

// One self-contained HTML file from run directories. What cannot be read is named on standard error and on
// the page, and the rest is reported.
int report_command(const ReportOptions& options);

struct CompareOptions {
  std::vector<std::string> runs;
  ComparisonRequest request;
  std::string format;  // text, markdown, json; "": by the ending of `out`, else text
  std::string out;     // "": standard output
};

// Means over seeds, and for each pair whether a difference is shown. What cannot be read is named on standard
// error and the rest compared.
int compare_command(const CompareOptions& options);

// The verdict matrices of runs, as Markdown, to `out`, or to standard output if that is empty. Runs of the
// same scenario (the shards of one) are judged together.
int claims_command(const std::vector<std::string>& runs, const std::string& out);

struct PlotOptions {
  std::vector<std::string> runs;
  std::string out;              // folder; "": RUN/figures for one run, figures for several
  std::string size = "single";  // or double
  std::vector<std::string> formats = {"svg", "pdf"};  // of svg, pdf, png
  std::vector<std::string> only;                      // names of figures, with * for any text; empty: all
  bool list = false;                                  // only names the figures
  bool log_x = false, dark = false;
  FigureRequest request;
};

// Figures for papers: python/longhaul/figures.py writes each with its data (.json) and the script that draws
// it (.py). What cannot be read is named on standard error.
int plot_command(const PlotOptions& options);

struct ValidateOptions {
  std::vector<std::string> names;  // of scenarios/validation, files or folders; empty: all of that folder
  std::string out;                 // keeps the run directories there; empty: they are removed
  std::string format = "text";     // or markdown
  std::string page;                // HTML, with a picture; empty: none
  int jobs = 1;
  std::vector<std::string> command;  // as typed, for the manifests
};

// Runs that others measured, predicted beside measured: replays each scenario and prints the table. kDone
// however far off a prediction is, kRunFailed where a case could not be replayed.
int validate_command(const ValidateOptions& options);

// The scenario files that `names` stand for, in that order; without any all of `folder`, by name. A name with
// a slash or ".json" is a file; a folder stands for all of its files that end so. Throws InputError for a
// name that the folder does not hold.
std::vector<std::string> validation_files(const std::string& folder, const std::vector<std::string>& names);

struct FitOptions {
  std::string scenario;
  std::vector<std::string> assignments;  // --set
  std::string observed;                  // empty: the figures of the scenario's section `validation`
  std::vector<std::string> unknowns;     // --unknown, beside the scenario's section `fit`
  std::vector<int> fitted;               // of these figures, from 1; empty: all
  std::string out;                       // empty: results/NAME-fit
  int jobs = 0;                          // replays at a time; 0: as many as there are cores
  bool quiet = false;
};

// Finds what the scenario names as unknown from observations, and writes OUT/scenario.json with it,
// OUT/fit.json and OUT/fit.html.
int fit_command(const FitOptions& options);

struct VerifyOptions {
  std::string scenario;
  std::vector<std::string> assignments;  // --set
  std::string observed;                  // empty: the figures of the scenario's section `validation`
  std::string out;                       // a page; empty: none
  int jobs = 0;                          // replays at a time; 0: as many as there are cores
  bool quiet = false;
};

// What was observed beside what the scenario predicts, with the range of each prediction; none is fitted.
// kDone however far off a prediction is.
int verify_command(const VerifyOptions& options);

struct EmulateOptions {
  std::string scenario;
  std::vector<std::string> assignments;  // --set
  std::string out;                       // keeps both run directories there; empty: they are removed
  std::string format = "text";           // or markdown
  bool script = false;                   // only prints the shell script of the only case
  std::vector<std::string> program;      // runs it on each host instead of sending what the plan says
  std::vector<std::string> command;      // as typed, for the manifests
};

// Sends the exchanges of a scenario over the kernel's own TCP in network namespaces, in real time, and prints
// what that took beside what the scenario's fidelity predicts. Throws InputError for what has no emulation.
int emulate_command(const EmulateOptions& options);
// What a world's script starts: the relay between its hosts, for the case in the file.
int relay_command(const std::string& case_file);
// And, inside of it: says whether the relay was late (emulation/lateness.h).
int lateness_command(int hosts);
// Writes FOLDER/world.sh of the case (emulation/world.h); returns the command line that runs it with `words`.
std::vector<std::string> in_world(const Case& config, const std::string& folder,
                                  const std::vector<std::string>& words);

// Writes a commented scenario to start from to the file `out`. Throws InputError where that exists already.
int new_command(const std::string& out);

struct PlanOptions {
  std::string plan;
  std::string out;  // empty: results/NAME-plan
  int jobs = 0;     // replays at a time; 0: as many as there are cores
  bool quiet = false;
  bool resume = false;  // takes the replays that an interrupted plan has left
  std::vector<std::string> command;  // as typed
};

// Searches what a plan file asks for and writes OUT/plan.json, scenario.json, plan.html and launch.sh.
int plan_command(const PlanOptions& options);
// Every key of a plan file, and its JSON Schema.
int plan_options_command();
int plan_schema_command();

// What a scenario can name, and what of it cannot be had together: list_topics(). `section`: of options, only
// that key; "": all. Throws InputError where there is no such key.
int list_command(const std::string& topic, const std::string& section = "");
const std::vector<std::string>& list_topics();

struct MeasuredOptions {
  std::vector<std::string> files;  // of measurements, folders of them, patterns
  std::vector<std::string> sites;  // NAME or NAME=HOST,HOST
  std::string inside;              // RTT,RATE between two machines of a site
  std::vector<std::string> rtts;   // NAME,NAME=RTT
  std::string throughput;          // of one connection where no file says it; "": not known
  std::string out;                 // "": standard output
  bool list = false;               // only says what each file has
};

// The matrix of sites that files of measurements make (docs/reference/formats/measurements.md). What a reader
// should know of it is said on standard error.
int measured_command(const MeasuredOptions& options);

struct ScenarioInfo {
  std::string file;   // path
  std::string about;  // the first sentence of its description; "" without one
};

// Those in `folder` and its subfolders, by path: JSON files that are an object with `methods`. What cannot be
// read as JSON is listed with that in its sentence.
std::vector<ScenarioInfo> scenarios_in(const std::string& folder);

// `scenarios` here, or else that of the source tree this executable was built in or of the place where it was
// installed; "" if there is none.
std::string scenario_folder();
// The same; throws InputError if there is none.
std::string needed_scenario_folder();

// "One. Two." is "One."; a full stop inside "Fig. 5A" or "arXiv 2506.10911" ends nothing.
std::string first_sentence(const std::string& text);

// Columns of a text for people that does not go to a terminal of known width.
constexpr std::size_t kTextWidth = 110;

// What several commands do: `text` to the file `out`, or to standard output if that is empty (throws
// RunError); problems to standard error, one line each.
void write_or_print(const std::string& out, const std::string& text);
void warn(const std::vector<std::string>& problems);

}  // namespace longhaul
