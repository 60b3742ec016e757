#include "planner/plan_text.h"

#include <fmt/core.h>

#include <cmath>

#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "net/library.h"
#include "planner/answer.h"
#include "planner/choice.h"
#include "planner/connection_gain.h"
#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/faulty_times.h"
#include "planner/memory_need.h"
#include "planner/plan_data.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/plan_tables.h"
#include "planner/rank_places.h"
#include "planner/search.h"
#include "planner/sensitivity.h"
#include "planner/site_shares.h"
#include "planner/site_traffic.h"
#include "planner/verification.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

std::string range_in_words(const Evaluation& evaluation) {
  const double low = evaluation.low_s(), high = evaluation.high_s();
  if (high - low < 1e-3 * evaluation.total_s()) return "";
  return fmt::format(" ({} to {})", human_duration(low), human_duration(high));
}

std::string cost_in_words(const PlanRequest& plan, const Evaluation& evaluation) {
  if (!has_prices(plan)) return "";
  return fmt::format(", {} {} (compute {}, egress {})", human_amount(evaluation.cost()), plan.currency,
                     human_amount(evaluation.compute_cost), human_amount(evaluation.egress_cost));
}

std::string whose_bytes(const Evaluation& evaluation) {
  return evaluation.traffic.sites.empty() || evaluation.traffic.sites[0].rfind("node ", 0) == 0 ? "the nodes"
                                                                                                : "the sites";
}

// How another plan of the front differs from the choice: what is less, then what is more.
std::string compared(const PlanRequest& plan, const Evaluation& other, const Evaluation& choice) {
  std::vector<std::string> gains, losses;
  const auto add = [&](double difference, double of, const std::string& amount, const char* less,
                       const char* more) {
    if (std::abs(difference) < 0.005 * of) return;
    (difference < 0 ? gains : losses).push_back(fmt::format("{} {}", amount, difference < 0 ? less : more));
  };
  const double seconds = other.total_s() - choice.total_s(), money = other.cost() - choice.cost(),
               bytes = other.bytes() - choice.bytes();
  add(seconds, choice.total_s(), human_duration(std::abs(seconds)), "faster", "slower");
  if (has_prices(plan))
    add(money, choice.cost(), human_amount(std::abs(money)) + " " + plan.currency, "cheaper", "dearer");
  add(bytes, choice.bytes(), human_bytes(std::abs(bytes)), "fewer bytes", "more bytes");
  std::string words = gains.empty() ? "" : enumeration(gains, "and");
  if (!losses.empty()) words += (words.empty() ? "" : ", but ") + enumeration(losses, "and");
  return words.empty() ? "as good to half a per cent" : words;
}

constexpr double kNothing = 1e-3;  // of the time

bool saves_anything(const PlanResult& result) {
  const std::vector<Upgrade>& upgrades = result.sensitivity.upgrades;
  return !upgrades.empty() && upgrades.front().saved_s > kNothing * result.choice().total_s();
}

// The choice's recipe with every H that is a choice too, by rising H; larger ones alone where the choice does
// not keep what it should.
std::vector<const Evaluation*> every_h(const SearchResult& search) {
  const Evaluation& choice = search.evaluations.front();
  const bool is_kept = search.rule.keeps(choice) && search.rule.excess(choice) == 0;
  std::vector<const Evaluation*> all;
  for (const Evaluation& evaluation : search.of_choice)
    if (search.rule.is_eligible(evaluation, choice) &&
        (is_kept || evaluation.candidate.inner_steps >= choice.candidate.inner_steps))
      all.push_back(&evaluation);
  return all;
}

// "187,000 to 333,000 EUR": of the least and the largest amount; once where a planner sees no difference.
std::string span_in_words(const std::vector<const Evaluation*>& all, double (Evaluation::*amount)() const,
                          std::string (*words)(double)) {
  double least = (all.front()->*amount)(), most = least;
  for (const Evaluation* evaluation : all) {
    least = std::min(least, (evaluation->*amount)());
    most = std::max(most, (evaluation->*amount)());
  }
  if (most - least <= kSameToAPlanner * most) return words(most);
  return words(least) + " to " + words(most);
}

std::string choice_in_words(const PlanRequest& plan, const SearchResult& search) {
  const Evaluation& choice = search.evaluations.front();
  const std::string costs =
      human_duration(choice.total_s()) + range_in_words(choice) + cost_in_words(plan, choice);
  const std::vector<const Evaluation*> all = every_h(search);
  if (all.size() < 2)
    return fmt::format("Take {}: {}; {} leave {}.", choice.candidate.words, costs,
                       human_bytes(choice.bytes()), whose_bytes(choice));
  std::string words = fmt::format("Take {}: {}", choice.candidate.recipe,
                                  span_in_words(all, &Evaluation::total_s, human_duration));
  if (has_prices(plan))
    words += fmt::format(", {} {}", span_in_words(all, &Evaluation::cost, human_amount), plan.currency);
  words += fmt::format(" depending on H ({} to {}); {} leave {}.", all.back()->candidate.inner_steps,
                       all.front()->candidate.inner_steps,
                       span_in_words(all, &Evaluation::bytes, human_bytes), whose_bytes(choice));
  return words + fmt::format(" H = {} here: {}. More inner steps may cost loss, which no replay knows.",
                             choice.candidate.inner_steps, costs);
}

// "FIFOs of 0.5 bandwidth-delay products", "FIFOs of 1 MB between routers".
std::string fifos_in_words(const Json& fifos) {
  const Json size = fifos.value("queue_size", Json(1));
  const std::string amount =
      size.is_string() ? size.get<std::string>()
                       : fmt::format("{} bandwidth-delay product{}", plain(size), size == 1 ? "" : "s");
  return fmt::format("FIFOs of {}{}", amount, member(fifos, "queue") == "fifo" ? "" : " between routers");
}

// "17 h 2 min (16 h 50 min to 17 h 10 min over 5 seeds)".
std::string verified_time_in_words(const VerifiedTime& time) {
  return human_duration(time.mean_s) +
         (time.seeds > 1 ? fmt::format(" ({} to {} over {} seeds)", human_duration(time.low_s),
                                       human_duration(time.high_s), time.seeds)
                         : " (one seed)");
}

// By more than a planner cares about.
bool is_better_somewhere(const Evaluation& evaluation, const Evaluation& other) {
  const double more = 1 + kSameToAPlanner;
  return evaluation.total_s() * more < other.total_s() || evaluation.cost() * more < other.cost() ||
         evaluation.bytes() * more < other.bytes();
}

// What else is on the front and better in time, money or bytes, but for other H of the choice's recipe: the
// first ones, of each recipe one.
std::vector<const Evaluation*> others_on_front(const SearchResult& search) {
  std::vector<const Evaluation*> others;
  std::vector<std::string> seen = {search.evaluations.front().candidate.recipe};
  for (std::size_t i = 1; i < search.front && others.size() < 2; ++i) {
    const Evaluation& evaluation = search.evaluations[i];
    if (!is_better_somewhere(evaluation, search.evaluations.front())) continue;
    if (contains(seen, evaluation.candidate.recipe)) continue;
    seen.push_back(evaluation.candidate.recipe);
    others.push_back(&evaluation);
  }
  return others;
}

// Why the answer is not the search's own time: "with its faults".
std::string conditions_in_words(const PlanResult& result) {
  if (!result.faulty.empty())
    return result.verification ? "with its faults and fair queues" : "with its faults";
  if (!result.verification) return "";
  return is_verified(result) ? "behind its FIFOs" : "with fair queues";
}

// Of a choice that keeps them in the search, but not as what it is in the end.
std::string broken_limits_in_words(const PlanRequest& plan, const PlanResult& result) {
  const ChoiceRule& rule = result.search.rule;
  const Answer answer = answer_of(result);
  std::vector<std::string> broken;
  if (rule.deadline_s && answer.longest_s > *rule.deadline_s)
    broken.push_back(fmt::format("takes {}, longer than the deadline of {}", human_duration(answer.longest_s),
                                 human_duration(*rule.deadline_s)));
  if (rule.budget && answer.highest_cost > *rule.budget)
    broken.push_back(fmt::format("costs {} {}, more than the budget of {} {}",
                                 human_amount(answer.highest_cost), plan.currency, human_amount(*rule.budget),
                                 plan.currency));
  const bool has_faults = !answer.is_longest_behind_fifos;
  return fmt::format(" {} it {}. The search is {}, where it keeps {}.",
                     has_faults ? "With its faults" : "Behind its FIFOs", enumeration(broken, "and"),
                     has_faults ? "without faults" : "of fair queues", broken.size() > 1 ? "both" : "it");
}

// Deadline and budget: whether they are kept, and what would be taken without them.
std::string limits_in_words(const PlanRequest& plan, const PlanResult& result) {
  const SearchResult& search = result.search;
  const Evaluation& choice = search.evaluations.front();
  const ChoiceRule& rule = search.rule;
  if (!rule.has_limits()) return "";
  std::vector<std::string> limits;
  if (rule.deadline_s) limits.push_back("the deadline of " + human_duration(*rule.deadline_s));
  if (rule.budget)
    limits.push_back(fmt::format("the budget of {} {}", human_amount(*rule.budget), plan.currency));
  const std::string both = enumeration(limits, "and"), cost = limits.size() > 1 ? "cost" : "costs";
  if (rule.excess(choice) > 0)
    return fmt::format(" No candidate{} keeps {}; this one misses by the least, {:.0f} %.",
                       search.still_open > 0 ? " that was replayed" : "", both,
                       std::ceil(100 * rule.excess(choice)));
  const Answer answer = answer_of(result);
  const bool is_broken = answer.excess(rule) > 0;
  std::string words = is_broken ? broken_limits_in_words(plan, result) : fmt::format(" It keeps {}", both);
  if (!is_broken && rule.deadline_s && answer.time.high_s > *rule.deadline_s)
    words += " (but within the network model's error it may take " + human_duration(answer.time.high_s) + ")";
  if (!search.without_limits) return is_broken ? words : words + fmt::format(", which {} nothing.", cost);
  return words + fmt::format("{} Without {}: {}: {}.", is_broken ? "" : ".",
                             limits.size() > 1 ? "them" : "it", search.without_limits->candidate.words,
                             compared(plan, *search.without_limits, choice));
}

// "0.997 s to 2.73 s" where sites differ.
std::string steps_in_words(const PlanRequest& plan) {
  double least = plan.step_s;
  for (const PlannedSite& site : plan.sites) least = std::min(least, site.step_s);
  return (least < plan.step_s ? human_duration(least) + " to " : "") + human_duration(plan.step_s);
}

}  // namespace

std::string human_amount(double amount) {
  if (amount < 100) return fmt::format("{:.3g}", amount);
  double step = 1;
  while (amount / step >= 1000) step *= 10;
  std::string digits = fmt::format("{:.0f}", std::round(amount / step) * step);
  for (int place = static_cast<int>(digits.size()) - 3; place > 0; place -= 3)
    digits.insert(as_index(place), ",");
  return digits;
}

// One change that pays: a site to leave out, or else the link to speed up.
std::string change_in_words(const PlanRequest& plan, const PlanResult& result) {
  const Evaluation& choice = result.choice();
  const auto excess = [&](const Evaluation& evaluation) { return result.search.rule.excess(evaluation); };
  if (const SiteShare* site = best_left_out(result.sites, result.search))
    return fmt::format("leave out {} ({}{})", site->name, compared(plan, *site->without, choice),
                       excess(choice) > 0 && excess(*site->without) == 0 ? ", which keeps the limits" : "");
  if (saves_anything(result)) {
    const Upgrade& best = result.sensitivity.upgrades.front();
    if (best.from < best.from_most)
      return fmt::format("make {} five times as fast (now {} to {}; saves {})", best.what,
                         human_rate(best.from), human_rate(best.from_most), human_duration(best.saved_s));
    return fmt::format("bring {} from {} to {} (saves {})", best.what, human_rate(best.from),
                       human_rate(best.to), human_duration(best.saved_s));
  }
  if (result.is_cut) return "not looked at to the end";
  return result.sites.empty() ? "no faster link would help" : "no faster link and no site less would help";
}

std::string verification_in_words(const PlanRequest& plan, const PlanResult& result) {
  if (!result.verification) return "";
  const Verification& verification = *result.verification;
  const VerifiedTime& own = verification.plans.front();
  const std::string fifos = fifos_in_words(verification.fifos);
  if (!verification.is_replayed())
    return fmt::format(
        "That is with fair queues. Behind {} it is not verified: the choice takes about {} segments there, "
        "and "
        "verify_segments is {}; longhaul run replays scenario.json so.",
        fifos, human_count(static_cast<double>(own.segments)),
        human_count(static_cast<double>(plan.most_verified_segments)));
  std::string words = fmt::format(
      "That is with fair queues. Behind {} it takes {}, replayed segment by segment (fidelity linux{})",
      fifos, verified_time_in_words(own),
      verification.residual < 1 ? fmt::format(", measured to {:.0f} % there", 100 * verification.residual)
                                : "");
  for (std::size_t i = 1; i < verification.plans.size(); ++i)
    words += fmt::format("; {} takes {}{}", verification.plans[i].words,
                         verified_time_in_words(verification.plans[i]),
                         verification.has_taken_rival ? ", which is the better one with fair queues" : "");
  return words + ".";
}

std::string in_short(const PlanRequest& plan, const PlanResult& result) {
  const Answer answer = answer_of(result);
  std::string words = fmt::format("In short: {} takes {}, from {} to {}", result.choice().candidate.words,
                                  human_duration(answer.time.mean_s), human_duration(answer.time.low_s),
                                  human_duration(answer.time.high_s));
  if (has_prices(plan)) words += fmt::format(", and costs {} {}", human_amount(answer.cost), plan.currency);
  if (const std::string conditions = conditions_in_words(result); !conditions.empty())
    words += ", " + conditions;
  return words + fmt::format("; what to change: {}.", change_in_words(plan, result));
}

std::string decision(const PlanRequest& plan, const PlanResult& result) {
  const SearchResult& search = result.search;
  const Evaluation& choice = result.choice();
  std::string words = (result.is_cut ? "Interrupted, so this is the best of what was replayed. " : "") +
                      choice_in_words(plan, search);
  if (result.verification) words += " " + verification_in_words(plan, result);
  words += limits_in_words(plan, result);
  if (!search.rule.keeps(choice))
    words += fmt::format(
        " No candidate computes {:.3g} % of the time; this one {} {}: {}{} would help.",
        100 * plan.min_utilization, plan.prefer == Preference::kTime ? "comes nearest, with" : "computes",
        search.rule.share_in_words(choice.utilization), choice.bubble_s > 0 ? "more micro-batches, " : "",
        saves_anything(result) ? "a larger H, fewer bits or faster links" : "a larger H or fewer bits");
  if (!result.by_gain.empty()) words += " " + gain_in_short(plan, choice, result.by_gain);
  const std::vector<const Evaluation*> others = others_on_front(search);
  for (const Evaluation* other : others)
    words += fmt::format(" {}: {}.", other->candidate.words, compared(plan, *other, choice));
  for (const Evaluation* other : best_of_each_method(search)) {
    const bool was_said = any_of(
        others, [&](const Evaluation* said) { return said->candidate.method == other->candidate.method; });
    if (was_said || other->candidate.method == choice.candidate.method) continue;
    words += fmt::format(
        " The best plan of {} that was replayed takes {}{}.", other->candidate.method,
        human_duration(other->total_s()),
        other->candidate.inner_steps > 0 ? fmt::format(" (H = {})", other->candidate.inner_steps) : "");
  }
  return words;
}

namespace {

std::vector<std::string> drawn_in(const Evaluation& choice) {
  return periods_of(choice.config, plan_of(choice.config)).drawn;
}

// Why the steps that were not replayed are known, or how well.
std::string rest_in_words(const Evaluation& choice) {
  if (choice.time.is_exact)
    return "nothing is drawn and the last two periods take each node equally long, so the rest is known "
           "exactly.";
  const std::vector<std::string> drawn = drawn_in(choice);
  const std::string within = human_duration(choice.time.half_width_s);
  if (drawn.empty())
    return fmt::format(
        "nothing is drawn, but outer steps still change: the rest takes their mean, to within {} if it "
        "changes no further than they did.",
        within);
  return fmt::format(
      "chance decides on {}: the rest takes their mean, and 95 % of trainings end within {} of it.",
      enumeration(drawn, "and"), within);
}

}  // namespace

std::vector<std::string> caveats(const PlanRequest& plan, const PlanResult& result) {
  const SearchResult& search = result.search;
  const Evaluation& choice = result.choice();
  std::vector<std::string> all;
  if (result.needs.of_curves.empty())
    all.push_back(
        "The loss is not known: at equal tokens methods, larger H and fewer bits are not equally good. Give "
        "target with runs of your own to compare at equal loss.");
  else
    all.push_back(
        "Tokens to the target are those of the runs that were given, with their models and settings; a "
        "larger model may need another number.");
  if (has_prices(plan) && price_per_hour(plan) == 0)
    all.push_back("No accelerator has a price: money, and a budget, are of what leaves the sites alone.");
  const TrainingTime& time = choice.time;
  const std::string steps = fmt::format("{} of {} steps ({} outer steps) were replayed; ",
                                        time.replayed_steps, choice.config.steps(), time.outer_steps);
  if (time.replayed_steps < choice.config.steps())
    all.push_back(steps + rest_in_words(choice));
  else if (!time.is_exact)
    all.push_back(
        fmt::format("Chance decides on {}: all steps were replayed, with one draw, and 95 % of "
                    "trainings with others end within {} of it.",
                    enumeration(drawn_in(choice), "and"), human_duration(time.half_width_s)));
  if (time.replayed_steps < choice.config.steps() && !choice.config.network.variation.is_empty())
    all.push_back(
        "The network changes with time, and only its beginning was replayed: run the scenario for the "
        "whole.");
  if (choice.residual > 0)
    all.push_back(fmt::format(
        "The ranges are the network model's {:.0f} % on what exchanges add to the compute of {}{}. What "
        "compute hides counts as exact.",
        100 * choice.residual,
        human_duration(choice.compute_s) +
            (choice.bubble_s > 0 ? " and its bubbles of " + human_duration(choice.bubble_s) : ""),
        choice.time.half_width_s > 0 ? ", and what differs from outer step to outer step" : ""));
  if (choice.fit_half_width_s > 0)
    all.push_back(
        fmt::format("What the fit of the network leaves open makes the choice {} longer or shorter: the root "
                    "of the sum of "
                    "both squares is its range. Of the other plans it is not known.",
                    human_duration(choice.fit_half_width_s)));
  if (result.verification)
    all.push_back(
        "Behind its FIFOs the choice and its nearest rival alone were replayed: all other times, of sites, "
        "links "
        "and faults too, are of fair queues. With network.fidelity linux the whole search is behind them.");
  if (const Library& library = library_named(plan.library); !library.is_plain())
    all.push_back(fmt::format(
        "Exchanges are carried as {} carries them ({}): its algorithms by size, its segments, what they wait "
        "for.",
        library.name, library.version));
  if (!choice.node_tokens.empty()) all.push_back(batches_in_words(result.sites));
  if (result.by_speed)
    all.push_back(
        fmt::format("All wait for the slowest site. With batches by speed (candidates.batches) the choice "
                    "takes {}, not {}.",
                    human_duration(result.by_speed->total_s()), human_duration(choice.total_s())));
  if (!result.faulty.empty()) all.push_back(faults_in_words(result.faulty));
  if (const std::string gain = gain_in_words(plan, choice, result.by_gain); !gain.empty())
    all.push_back(gain);
  if (search.still_open > 0)
    all.push_back(fmt::format(
        "{} candidates that may be on the front were not replayed, because {} replays reach `replays`.",
        search.still_open, search.replays));
  if (search.estimated > 0)
    all.push_back(fmt::format(
        "{} with double trees {} ruled out by an estimate, replays in 8 and 16 chunks, and {} in no table.",
        counted(as_index(search.estimated), "candidate"), search.estimated == 1 ? "was" : "were",
        search.estimated == 1 ? "is" : "are"));
  for (const std::string& note : search.notes) all.push_back(note + ".");
  return all;
}

std::string range_meaning() {
  return "the network model's measured error on what exchanges add to the compute, and where outer steps "
         "differ the 95 % interval of their sum, or what they may still change";
}

std::string front_in_words(const SearchResult& search) {
  return fmt::format(
      "no other plan{} with the same or a smaller H is better in time, money and bytes that leave a site at "
      "once; a plan that is better than one of these in nothing by {:g} % is left out",
      search.still_open > 0 ? " that was replayed" : "", 100 * kSameToAPlanner);
}

void expect_possible(const PlanResult& result) {
  for (const Evaluation& evaluation : result.search.evaluations) expect_possible(evaluation);
  for (const Evaluation& evaluation : result.search.of_choice) expect_possible(evaluation);
  if (result.search.without_limits) expect_possible(*result.search.without_limits);
  const auto refuse = [](const std::string& what) {
    throw std::logic_error(what + ": a plan that cannot be");
  };
  if (is_verified(result))
    for (const VerifiedTime& time : result.verification->plans)
      if (!(time.low_s <= time.mean_s && time.mean_s <= time.high_s))
        refuse(time.words + " behind its FIFOs");
  for (const SiteShare& site : result.sites) {
    if (site.without) expect_possible(*site.without);
    if (!(site.computes >= 0 && site.computes <= 1 + 1e-6)) refuse(site.name + " computes for too long");
  }
  for (const FaultyTime& faulty : result.faulty) {
    const TimeRange time = faulty.time();
    if (!(time.low_s <= time.mean_s && time.mean_s <= time.high_s && faulty.without.mean_s <= time.mean_s))
      refuse(faulty.words + " with faults");
  }
  for (const BusyLink& link : result.sensitivity.links)
    if (!(link.busy <= 1 + 1e-6)) refuse(link.name + " is full for longer than the training");
  const double most_s = result.choice().total_s() - result.choice().compute_s;
  for (const Upgrade& upgrade : result.sensitivity.upgrades)
    if (!(upgrade.saved_s <= most_s * (1 + 1e-6) + 1e-6)) refuse(upgrade.what + " saves more than there is");
}

std::string plan_text(const PlanRequest& plan, const PlanResult& result) {
  expect_possible(result);
  const SearchResult& search = result.search;
  const Evaluation& choice = result.choice();
  std::string text = decision(plan, result) + "\n\n";
  text += fmt::format(
      "{}; a step computes for {}, and takes {} on average with its exchanges: {} "
      "tokens/s\n\n",
      amount_of(human_amount(accelerator_hours(plan, choice)), "accelerator-hour"), steps_in_words(plan),
      human_duration(choice.total_s() / choice.config.steps()),
      human_amount(static_cast<double>(choice.candidate.tokens) / choice.total_s()));
  text += plans_table(plan, search);
  text += "front: " + front_in_words(search) + "\nlow, high: " + range_meaning() + "\n\n";
  if (search.of_choice.size() > 1)
    text += "the choice with every H:\n" + inner_steps_table(plan, search) + "\n";
  text += "memory: " + memory_in_words(choice.memory) + "\n";
  text += busiest_in_words(result.sensitivity) + "\n";
  if (!saves_anything(result))
    text +=
        "  no link that is five times as fast saves anything: compute hides the exchanges, or the ways are "
        "long\n";
  std::vector<std::string> in_vain;
  for (const Upgrade& upgrade : result.sensitivity.upgrades) {
    if (upgrade.saved_s <= kNothing * choice.total_s())
      in_vain.push_back(upgrade.what);
    else
      text += fmt::format("  {} saves {}\n", in_words(upgrade), human_duration(upgrade.saved_s));
  }
  if (saves_anything(result) && !in_vain.empty())
    text += fmt::format("  five times as fast, these save nothing: {}\n", join(in_vain));
  text += "ranks: " + placement_in_words(choice.config) + "\n\n";
  if (result.sites.size() > 1)
    text += "the choice's sites:\n" + sites_table(plan, result) +
            "  without a site a step has fewer tokens, and there are more of them\n\n";
  if (!result.faulty.empty()) text += faults_table(result) + "\n";
  for (const std::string& caveat : caveats(plan, result)) text += caveat + "\n";
  return text + "\n" + in_short(plan, result) + "\n";
}

}  // namespace longhaul
