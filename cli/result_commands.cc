// Commands that read finished runs and write a text: report, compare and claims.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "analysis/claims/claims.h"
#include "analysis/claims/verdict_matrix.h"
#include "analysis/comparison/budget_loss.h"
#include "analysis/comparison/comparison.h"
#include "analysis/comparison/decision.h"
#include "analysis/comparison/decision_words.h"
#include "analysis/comparison/render.h"
#include "analysis/report/report.h"
#include "analysis/report/report_data.h"
#include "analysis/residual.h"
#include "analysis/run_files.h"
#include "analysis/text.h"
#include "cli/commands.h"
#include "cli/output_place.h"
#include "core/base/errors.h"
#include "core/base/printable.h"

namespace longhaul {
namespace {

std::string format_of(const CompareOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string ending = std::filesystem::path(options.out).extension().string();
  if (ending == ".csv")
    throw InputError("-o", fmt::format("found \"{}\"", options.out), "a name that ends in .md, .json or .txt",
                     "the JSON has every number; --format says it for another name");
  if (ending == ".md") return "markdown";
  return ending == ".json" ? "json" : "text";
}

// What to conclude stands first.
std::string rendered(const ComparisonTable& table, const Conclusions& conclusions,
                     const std::string& format) {
  if (format == "json") {
    Json json = comparison_json(table);
    json["conclusions"] = conclusions_json(conclusions);
    return json.dump(2) + "\n";
  }
  const std::string markdown = conclusions_markdown(conclusions) + comparison_markdown(table);
  return format == "markdown" ? markdown : terminal_text(markdown, kTextWidth);
}

// How much of the scenario is done.
std::string done_in_words(const RunDirectory& run) {
  const auto done = std::count_if(run.records.begin(), run.records.end(),
                                  [](const Json& record) { return record.value("status", "") == "done"; });
  std::string text = fmt::format("{} of {} cases done.", done, run.records.size() + run.missing_cases);
  if (!run.missing_shards.empty()) text += " " + not_given_in_words(run) + ", and no verdict on the claim.";
  return text;
}

constexpr std::size_t kMostSentences = 3;

// The verdict in a sentence, or in several of a claim that is judged at each point.
std::string sentences_on(const Json& claim, const Json& verdicts) {
  std::vector<std::string> sentences;
  for (const Json& verdict : verdicts)
    if (verdict["id"] == claim["id"]) sentences.push_back(verdict_sentence(verdict));
  std::string text;
  for (std::size_t i = 0; i < std::min(sentences.size(), kMostSentences); ++i)
    text += "- " + markdown_text(sentences[i]) + "\n";
  if (sentences.size() > kMostSentences)
    text += fmt::format("- and {} more points, as above\n", sentences.size() - kMostSentences);
  return text + "\n";
}

}  // namespace

void warn(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) say(stderr, "warning: " + problem + "\n");
}

void write_or_print(const std::string& out, const std::string& text) {
  if (out.empty())
    say(stdout, text);
  else {
    check_output_file("--output", out);
    write_file(out, text);
  }
}

int report_command(const ReportOptions& options) {
  std::string out = options.out;
  if (out.empty()) out = options.runs.size() > 1 ? "report.html" : options.runs[0] + "/report.html";
  const Json data = report_data(open_runs(options.runs));
  check_output_file("--output", out);
  warn(data["problems"].get<std::vector<std::string>>());
  write_file(out, report_page(data));
  say(stdout, "report: " + out + "\n");
  return kDone;
}

int compare_command(const CompareOptions& options) {
  RunDirectories opened = open_runs(options.runs);
  const std::vector<std::string> notes = add_budget_losses(options.request.metrics, opened.runs);
  ComparisonTable table = compare_runs(opened.runs, options.request);
  table.notes.insert(table.notes.begin(), notes.begin(), notes.end());
  if (const std::string text = outside_in_words(all_records(opened.runs)); !text.empty())
    table.notes.push_back(text);
  std::vector<std::string> problems = opened.problems;
  for (const std::string& note : not_given_notes(opened.runs)) problems.push_back(note);
  warn(problems);
  table.notes.insert(table.notes.begin(), problems.begin(), problems.end());
  // Who asks for certain numbers or pairs has a question of their own.
  const bool is_asked = !options.request.metrics.empty() || !options.request.pairs.empty();
  const Conclusions conclusions = is_asked ? Conclusions() : conclusions_of(opened.runs, options.request);
  write_or_print(options.out, rendered(table, conclusions, format_of(options)));
  return kDone;
}

int claims_command(const std::vector<std::string>& runs, const std::string& out) {
  const RunDirectories opened = open_runs(runs);
  warn(opened.problems);
  std::string text;
  for (const RunDirectory& run : opened.runs) {
    if (!run.written.is_object()) throw RunError(run.folder + "/scenario.json: cannot be read");
    text +=
        fmt::format("## {}\n\n{}\n\n", markdown_text(run.summary.value("scenario", "")), done_in_words(run));
    const Json claims = run.claims();
    if (claims.empty())
      text +=
          "The scenario makes no claims: there is nothing to judge (longhaul list options claims says how to "
          "write one; longhaul compare compares the methods).\n";
    const Json verdicts = run.summary.value("claims", Json::array());
    for (const Json& claim : claims)
      text += verdict_markdown(claim, run.records) + sentences_on(claim, verdicts);
    text += conclusions_markdown(conclusions_of({run}));
  }
  write_or_print(out, text);
  return kDone;
}

}  // namespace longhaul
