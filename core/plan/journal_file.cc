#include "core/plan/journal_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/plan/journal.h"

namespace longhaul {
namespace {

using namespace journal;

Json of_operation(const char* kind, const Operation& operation) {
  Json json = {{kind, operation.rule->name}, {"step", operation.post_step}};
  if (!operation.groups.empty()) json["groups"] = operation.groups;
  if (operation.takers) {
    json["takers"] = Json::array();
    for (const Operation::Taker& taker : *operation.takers)
      json["takers"].push_back({taker.replica, taker.contributor});
  }
  if (!operation.sends_anew.empty()) json["anew"] = operation.sends_anew;
  return json;
}

struct ToJson {
  const OperationPlan* plan;

  const std::string& name(int rule) const { return plan->rules[as_index(rule)].name; }
  Json operator()(const Compute& entry) const {
    return {{"compute", entry.replicas}, {"steps", {entry.first, entry.last}}};
  }
  Json operator()(const Optimize& entry) const {
    return {{"optimize", entry.replicas}, {"step", entry.step}};
  }
  Json operator()(const Post& entry) const { return of_operation("post", entry.operation); }
  Json operator()(const Meet& entry) const { return of_operation("meet", entry.operation); }
  Json operator()(const Local& entry) const {
    return {{"local", entry.number}, {"replicas", entry.replicas}};
  }
  Json operator()(const Contribute& entry) const {
    return {{"contribute", entry.replica},
            {"merge", entry.merge},
            {"rule", name(entry.rule)},
            {"step", entry.step}};
  }
  Json operator()(const MakeMerge& entry) const {
    Json json = {{"make", entry.merge}, {"rule", name(entry.rule)}};
    for (std::size_t i = 0; i < entry.contributions.size(); ++i) {
      const Merge::Contribution& of = entry.contributions[i];
      json["of"].push_back({of.replica, of.post_step, of.taken_step, entry.shares[i]});
    }
    return json;
  }
  Json operator()(const TakeUp& entry) const { return {{"take", entry.replica}, {"merge", entry.merge}}; }
  Json operator()(const Hold& entry) const { return {{"hold", entry.source}, {"copy", entry.copy}}; }
  Json operator()(const Become& entry) const { return {{"become", entry.replica}, {"copy", entry.copy}}; }
  Json operator()(const Keep& entry) const {
    return {{"keep", entry.replica}, {"step", entry.step}, {"phase", entry.phase}};
  }
  Json operator()(const Evaluate& entry) const {
    return {{"evaluate", entry.replicas}, {"step", entry.step}, {"phase", entry.phase}};
  }
  Json operator()(const EndStep& entry) const {
    return {{"end", entry.step}, {"replicas", entry.replicas}, {"there", entry.there}};
  }
  Json operator()(const Save& entry) const { return {{"save", entry.step}}; }
};

[[noreturn]] void refuse(const char* key, const Json& found, const std::string& allowed) {
  throw InputError(key, "found " + found.dump(), allowed);
}

// Reads entries in their order, and knows what those before have left.
class Reader {
 public:
  Reader(const OperationPlan& plan, const PlanContext& context) : plan_(plan), context_(context) {}

  void header(const Json& json) {
    if (json.at("longhaul_journal") != 1) refuse("longhaul_journal", json["longhaul_journal"], "1");
    for (const auto& [key, value] :
         {std::pair("replicas", context_.replicas), std::pair("steps", context_.steps)})
      if (json.at(key) != value) refuse(key, json[key], fmt::format("{}, as the case has", value));
  }

  Entry entry(const Json& json) {
    if (json.contains("compute")) return compute(json);
    if (json.contains("optimize")) return Optimize{replicas(json, "optimize"), step(json.at("step"))};
    if (json.contains("post")) return post(json);
    if (json.contains("meet")) return meet(json);
    if (json.contains("local")) return local(json);
    if (json.contains("contribute")) return contribute(json);
    if (json.contains("make")) return make(json);
    if (json.contains("take")) return take(json);
    if (json.contains("hold")) return hold(json);
    if (json.contains("become")) return become(json);
    if (json.contains("keep")) return keep(json);
    if (json.contains("evaluate")) return evaluate(json);
    if (json.contains("end"))
      return EndStep{step(json["end"]), replicas(json, "replicas"), replicas(json, "there")};
    if (json.contains("save")) return Save{last_saved_ = step(json["save"])};
    refuse("", json,
           "an entry: compute, optimize, post, meet, local, contribute, make, take, hold, become, keep, "
           "evaluate, end or save");
  }

  // Behind the last entry.
  void end() const {
    if (last_saved_ != context_.steps)
      throw InputError("", "ends before the last step is saved",
                       fmt::format("{{\"save\": {}}}", context_.steps));
  }

 private:
  int step(const Json& json) const {
    const int step = json;
    if (step < 1 || step > context_.steps) refuse("step", json, fmt::format("1 to {}", context_.steps));
    return step;
  }
  int replica(const Json& json, const char* key) const {
    const int replica = json;
    if (replica < 0 || replica >= context_.replicas)
      refuse(key, json, fmt::format("0 to {}", context_.replicas - 1));
    return replica;
  }
  std::vector<int> replicas(const Json& json, const char* key) const {
    std::vector<int> those;
    for (const Json& one : json.at(key)) {
      const int number = replica(one, key);
      if (!those.empty() && number <= those.back()) refuse(key, json[key], "ascending, each at most once");
      those.push_back(number);
    }
    return those;
  }
  int rule(const Json& json, const char* key, bool of_merges) const {
    const std::string name = json.at(key);
    std::string names;
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
      const bool is_so = (plan_.rules[i].kind == OperationKind::kMerge) == of_merges;
      if (is_so && plan_.rules[i].name == name) return static_cast<int>(i);
      if (is_so) names += (names.empty() ? "" : ", ") + plan_.rules[i].name;
    }
    refuse(key, json[key], names.empty() ? "no such entry with this method" : names);
  }
  std::size_t number(const Json& json) const {
    if (!json.is_number_unsigned()) refuse("number", json, "a whole number, 0 or more");
    return json;
  }
  const Merge::Contribution& contribution_of(const MakeMerge& merge, int replica) const {
    const auto found = std::find_if(merge.contributions.begin(), merge.contributions.end(),
                                    [&](const auto& of) { return of.replica == replica; });
    if (found == merge.contributions.end()) refuse("take", replica, "one who contributed to the merge");
    return *found;
  }

  Compute compute(const Json& json) const {
    Compute entry{replicas(json, "compute"), step(json.at("steps").at(0)), step(json.at("steps").at(1))};
    if (entry.first > entry.last) refuse("steps", json["steps"], "from the first to the last one");
    if (entry.first < entry.last && exchanges_gradients(plan_))
      refuse("steps", json["steps"], "one step, since gradients are exchanged before the optimizer");
    return entry;
  }

  // As the plan has it, with the groups of the line.
  Operation operation(const Json& json, const char* key) const {
    const int number = rule(json, key, false), posted = step(json.at("step"));
    const OperationRule& of = plan_.rules[as_index(number)];
    const std::vector<Operation> all = operations_at(plan_, context_, posted);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Operation& operation) { return operation.rule == &of; });
    if (found == all.end()) refuse("step", json["step"], "a step after which " + of.name + " is posted");
    Operation operation = *found;
    if (json.contains("groups")) {
      std::vector<std::vector<int>> groups = json["groups"];
      operation.groups = groups;
      for (const std::vector<int>& group : groups_of(operation, context_.replicas))
        if (group.empty()) refuse("groups", json["groups"], "groups with a member");
      operation = with_groups(std::move(operation), std::move(groups));
    }
    if (json.contains("anew")) operation.sends_anew = replicas(json, "anew");
    if (!json.contains("takers")) return operation;
    operation.takers.emplace();
    for (const Json& pair : json["takers"]) {
      const Operation::Taker taker{replica(pair.at(0), "takers"), pair.at(1)};
      if (taker.contributor != -1) replica(pair.at(1), "takers");
      operation.takers->push_back(taker);
    }
    return operation;
  }
  Post post(const Json& json) {
    Post entry{operation(json, "post")};
    if (entry.operation.rule->is_blocking()) refuse("post", json["post"], "one that overlaps with compute");
    if (!posted_.insert({entry.operation.rule, entry.operation.post_step}).second)
      refuse("post", json["post"], "what was not posted yet");
    return entry;
  }
  Meet meet(const Json& json) {
    Meet entry{operation(json, "meet")};
    const Operation& operation = entry.operation;
    if (!operation.rule->is_blocking() && posted_.erase({operation.rule, operation.post_step}) == 0)
      refuse("meet", json["meet"], "what was posted and has not met");
    return entry;
  }
  Local local(const Json& json) const {
    const int number = json["local"], last = static_cast<int>(plan_.local.size()) - 1;
    if (number < 0 || number > last) refuse("local", json["local"], fmt::format("0 to {}", last));
    return {number, replicas(json, "replicas")};
  }

  Contribute contribute(const Json& json) {
    const Contribute entry{number(json.at("merge")), rule(json, "rule", true),
                           replica(json["contribute"], "contribute"), step(json.at("step"))};
    if (!contributed_[entry.merge].insert({entry.replica, entry.step, entry.rule}).second)
      refuse("contribute", json["contribute"], "one contribution to a merge");
    return entry;
  }
  MakeMerge make(const Json& json) {
    MakeMerge entry{number(json["make"]), rule(json, "rule", true), {}, {}};
    double all = 0;
    std::set<std::tuple<int, int, int>>& posted = contributed_[entry.merge];
    for (const Json& of : json.at("of")) {
      const Merge::Contribution made{replica(of.at(0), "of"), step(of.at(1)), of.at(2)};
      if (posted.erase({made.replica, made.post_step, entry.rule}) == 0)
        refuse("of", of, "what was contributed to this merge");
      entry.contributions.push_back(made);
      entry.shares.push_back(of.at(3));
      all += entry.shares.back();
    }
    if (entry.contributions.empty() || !posted.empty())
      refuse("of", json["of"], "all that was contributed to this merge");
    if (!(std::abs(all - 1) < 1e-3)) refuse("of", json["of"], "shares that add up to 1");
    if (!made_.emplace(entry.merge, entry).second)
      refuse("make", json["make"], "a merge that is not made yet");
    return entry;
  }
  TakeUp take(const Json& json) {
    const std::size_t merge = number(json.at("merge"));
    const int who = replica(json["take"], "take");
    const auto made = made_.find(merge);
    if (made == made_.end()) refuse("merge", json["merge"], "a merge that is made");
    const bool takes = contribution_of(made->second, who).taken_step > 0;
    if (!takes || !taken_.insert({merge, who}).second)
      refuse("take", json["take"], "one that takes the merge up, once");
    return {merge, made->second.rule, who};
  }

  Hold hold(const Json& json) {
    const Hold entry{number(json.at("copy")), replica(json["hold"], "hold")};
    if (!held_.insert(entry.copy).second) refuse("copy", json["copy"], "a copy that is not held yet");
    return entry;
  }
  Become become(const Json& json) {
    const Become entry{number(json.at("copy")), replica(json["become"], "become")};
    if (held_.erase(entry.copy) == 0) refuse("copy", json["copy"], "a copy that is held");
    return entry;
  }

  std::string phase(const Json& json) const {
    const std::string phase = json.at("phase");
    if (phase != "before" && phase != "after" && phase != "plain")
      refuse("phase", json["phase"], "before, after or plain");
    return phase;
  }
  Keep keep(const Json& json) const {
    return {step(json.at("step")), phase(json), replica(json["keep"], "keep")};
  }
  Evaluate evaluate(const Json& json) const {
    Evaluate entry{step(json.at("step")), phase(json), replicas(json, "evaluate")};
    if (entry.replicas.empty()) refuse("evaluate", json["evaluate"], "one replica or more");
    return entry;
  }

  const OperationPlan& plan_;
  const PlanContext& context_;
  std::set<std::pair<const OperationRule*, int>> posted_;                   // not met
  std::map<std::size_t, std::set<std::tuple<int, int, int>>> contributed_;  // replica, step, rule
  std::map<std::size_t, MakeMerge> made_;
  std::set<std::pair<std::size_t, int>> taken_;
  std::set<std::size_t> held_;
  int last_saved_ = 0;
};

class Lines : public Journal {
 public:
  Lines(std::vector<Entry> entries, std::uint64_t hash) : entries_(std::move(entries)), hash_(hash) {}

  // To the end of a step in which replicas met, or of some steps in which they did not.
  std::vector<Entry> next() override {
    std::vector<Entry> part;
    for (bool meets = false; at_ < entries_.size();) {
      const Entry& entry = part.emplace_back(entries_[at_++]);
      const bool ends = std::holds_alternative<EndStep>(entry);
      if (ends && (meets || part.size() >= kMostEntries)) break;
      meets |= !ends && !std::holds_alternative<Compute>(entry);
    }
    return part;
  }
  std::string identity() const override { return hex64(hash_); }

 private:
  static constexpr std::size_t kMostEntries = 128;

  std::vector<Entry> entries_;
  std::uint64_t hash_;
  std::size_t at_ = 0;
};

}  // namespace

void write_journal(Journal& journal, const OperationPlan& plan, const PlanContext& context,
                   std::ostream& out) {
  out << Json{{"longhaul_journal", 1}, {"replicas", context.replicas}, {"steps", context.steps}}.dump()
      << '\n';
  for (std::vector<Entry> entries = journal.next(); !entries.empty(); entries = journal.next())
    for (const Entry& entry : entries) out << std::visit(ToJson{&plan}, entry).dump() << '\n';
}

std::unique_ptr<Journal> read_journal(std::istream& in, const std::string& file, const OperationPlan& plan,
                                      const PlanContext& context) {
  Reader reader(plan, context);
  std::vector<Entry> entries;
  std::string line;
  std::uint64_t hash = kFnvOffset;
  int number = 0;
  const char* allowed = "a line of a journal (docs/formats.md)";
  try {
    while (++number, std::getline(in, line)) {
      const Json json = parse_json(line);
      hash = fnv1a("\n", fnv1a(line, hash));
      if (number == 1)
        reader.header(json);
      else
        entries.push_back(reader.entry(json));
    }
    if (number == 1) throw InputError("", "is empty", "a journal");
    reader.end();
  } catch (const Json::exception& error) {
    throw of_line(in_our_words(error), file, number, allowed);
  } catch (const InputError& error) {
    throw of_line(error, file, number, allowed);
  }
  return std::make_unique<Lines>(std::move(entries), hash);
}

}  // namespace longhaul
