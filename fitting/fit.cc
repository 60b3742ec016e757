#include "fitting/fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/scenario/metrics.h"
#include "core/scenario/scenario.h"
#include "fitting/axes.h"
#include "fitting/least_squares.h"
#include "fitting/predictions.h"
#include "fitting/step_times.h"

namespace longhaul {
namespace {

constexpr double kPossible = 0.1;    // of the best choice's likelihood
constexpr double kNotTold = 0.9;     // a correlation above it
constexpr double kLackOfFit = 0.05;  // level of its test
constexpr double kExact = 1e-8;      // a deviation below it is rounding

// Every combination of the choices' values; one without values where there is no choice.
std::vector<Json> combinations(const std::vector<Unknown>& unknowns) {
  std::vector<Json> all = {Json::object()};
  for (const Unknown& unknown : unknowns) {
    if (!unknown.is_choice()) continue;
    std::vector<Json> longer;
    for (const Json& one : all)
      for (const Json& value : unknown.choices()) {
        longer.push_back(one);
        longer.back()[unknown.path()] = value;
      }
    all = std::move(longer);
  }
  return all;
}

// What the scenario has at the place, where it has it: else the middle.
FitPoint start_of(const Json& scenario, const std::vector<Unknown>& numbers) {
  FitPoint start;
  for (const Unknown& unknown : numbers) {
    Json at = scenario;
    std::string path = unknown.path();
    while (!path.empty()) {
      const std::size_t dot = path.find('.');
      at = member(at, path.substr(0, dot));
      path = dot == std::string::npos ? "" : path.substr(dot + 1);
    }
    double place = 0.5;
    if (at.is_string() || at.is_number()) {
      try {
        place = unknown.place_of(unknown.number_of(at));
      } catch (const InputError&) {  // another kind of value: the middle
      } catch (const Json::exception&) {
      }
    }
    start.push_back(place);
  }
  return start;
}

// A thing beside the logarithms that are predicted of it: with what was found, and at both ends of each axis.
FitResidual residual_of(const ObservedThing& thing, const std::vector<double>& predicted,
                        const FitVariance& variance, const std::optional<double>& model) {
  FitResidual residual;
  residual.what = thing.what;
  residual.is_time =
      thing.exchange != nullptr || metric_named(thing.row->metric).unit == Metric::Unit::kSeconds;
  residual.count = static_cast<std::size_t>(thing.count());
  residual.observed = std::exp(thing.mean());
  residual.predicted = std::exp(predicted[0]);
  residual.is_fitted = thing.is_fitted;
  double squares = variance.squares_of_one_more(residual.count, model);
  for (std::size_t i = 1; i + 1 < predicted.size(); i += 2) {
    const double half = (predicted[i + 1] - predicted[i]) / 2;
    squares += half * half;
  }
  residual.low = residual.predicted * std::exp(-std::sqrt(squares));
  residual.high = residual.predicted * std::exp(std::sqrt(squares));
  return residual;
}

// The fit of one combination of the choices.
struct Attempt {
  Json chosen;
  std::unique_ptr<Predictions> predictions;
  std::unique_ptr<LeastSquares> squares;
  FitMinimum minimum;
};

class Fitting {
 public:
  Fitting(const Json& scenario, const std::vector<Unknown>& unknowns, const Observations& observations,
          const FitTools& tools)
      : scenario_(scenario),
        tools_(tools),
        cases_(tools.cases(scenario)),
        numbers_(numbers_of(unknowns)),
        choices_(combinations(unknowns)) {
    result_.words = observations.notes;
    things_ = things_of(observations, result_.words);
    for (const ObservedThing& thing : things_) {
      if (!thing.is_fitted) continue;
      fitted_.push_back(&thing);
      means_.push_back(thing.mean());
      counts_.push_back(thing.count());
      within_ += thing.within();
      result_.observations += thing.times.size();
    }
    weights_ = counts_;
    result_.things = fitted_.size();
    if (fitted_.empty())
      throw InputError({observations.file, "", "found nothing that can be fitted",
                        "exchanges with bytes and times of all ranks, or rows",
                        join_some(observations.notes, 3)});
  }

  FitResult run() {
    std::vector<Attempt> attempts;
    for (const Json& chosen : choices_) attempts.push_back(attempt(chosen));
    sort(attempts);
    if (const std::optional<double> p = lack_of_fit(attempts[0])) {
      result_.words.push_back(fmt::format(
          "what was observed differs from the scenario by more than its repeats differ from each other (p = "
          "{:.2g}): each different thing counts once",
          *p));
      weights_.assign(means_.size(), 1);
      for (Attempt& one : attempts) refit(one);
      sort(attempts);
    }
    Attempt best = std::move(attempts[0]);
    attempts.erase(attempts.begin());
    choose_spread(best);
    rank(best, attempts);
    find_values(best);
    predict_all(best);
    for (const Attempt& other : attempts) result_.replays += other.predictions->replays();
    result_.replays += best.predictions->replays();
    return std::move(result_);
  }

 private:
  static void sort(std::vector<Attempt>& attempts) {
    std::sort(attempts.begin(), attempts.end(),
              [](const Attempt& a, const Attempt& b) { return a.minimum.sum < b.minimum.sum; });
  }

  Attempt attempt(const Json& chosen) {
    Attempt attempt;
    attempt.chosen = chosen;
    attempt.predictions = std::make_unique<Predictions>(scenario_, cases_, numbers_, chosen, tools_);
    attempt.minimum.at = start_of(scenario_, numbers_);
    refit(attempt);
    return attempt;
  }

  // With the weights as they are now, from where it stands.
  void refit(Attempt& attempt) const {
    Predictions& predictions = *attempt.predictions;
    attempt.squares = std::make_unique<LeastSquares>(
        numbers_.size(), means_, weights_, [this, &predictions](const std::vector<FitPoint>& points) {
          return predictions.at(points, fitted_);
        });
    if (!numbers_.empty()) {
      attempt.minimum = attempt.squares->minimum(attempt.minimum.at);
      return;
    }
    attempt.minimum.predicted = predictions.at({{}}, fitted_)[0];
    attempt.minimum.sum = sum_of(attempt);
  }

  double sum_of(const Attempt& attempt) const { return sum_at(attempt.minimum.predicted); }

  double sum_at(const std::vector<double>& predicted) const {
    double sum = 0;
    for (std::size_t i = 0; i < means_.size(); ++i)
      sum += weights_[i] * (means_[i] - predicted[i]) * (means_[i] - predicted[i]);
    return sum;
  }

  int unknowns() const { return static_cast<int>(numbers_.size()); }
  int of_repeats() const { return static_cast<int>(result_.observations - result_.things); }
  int of_differences() const { return static_cast<int>(result_.things) - unknowns(); }

  // p of the test, where it says that the scenario does not fit.
  std::optional<double> lack_of_fit(const Attempt& best) const {
    const int repeats = of_repeats(), differences = of_differences();
    if (differences <= 0 || repeats <= 0 || within_ <= 0) return std::nullopt;
    const double ratio = best.minimum.sum / differences / (within_ / repeats);
    const double p = boost::math::cdf(
        boost::math::complement(boost::math::fisher_f(differences, repeats), std::min(ratio, 1e9)));
    if (p < kLackOfFit) return p;
    return std::nullopt;
  }

  void choose_spread(const Attempt& best) {
    const int repeats = of_repeats(), differences = of_differences();
    FitVariance& variance = result_.variance;
    const bool each_counts_once = weights_ != counts_;
    if (repeats > 0 && within_ > 0 && !each_counts_once) {
      variance.spread = FitSpread::kRepeats;
      variance.freedom = repeats + std::max(0, differences);
      variance.deviation = std::sqrt((within_ + (differences > 0 ? best.minimum.sum : 0)) / variance.freedom);
    } else if (differences > 0) {
      variance.spread = FitSpread::kDifferences;
      variance.freedom = differences;
      variance.deviation = std::sqrt(best.minimum.sum / variance.freedom);
    } else {
      variance.spread = FitSpread::kPublished;
      variance.deviation = kPublishedDeviation;
    }
  }

  // A normal likelihood whose variance is its own best one.
  void rank(const Attempt& best, const std::vector<Attempt>& others) {
    const auto total = static_cast<double>(result_.observations);
    const bool by_things = result_.variance.spread == FitSpread::kDifferences;
    const auto left = [&](const Attempt& attempt) { return sum_of(attempt) + (by_things ? 0 : within_); };
    const double count = by_things ? static_cast<double>(means_.size()) : total;
    const auto add = [&](const Attempt& attempt) {
      FittedChoice choice;
      choice.values = attempt.chosen;
      choice.spread = std::sqrt(left(attempt) / count);
      const double floor = kExact * kExact * count;
      const double likelihood = result_.variance.freedom == 0
                                    ? std::exp(-(left(attempt) - left(best)) /
                                               (2 * result_.variance.deviation * result_.variance.deviation))
                                    : std::pow((left(best) + floor) / (left(attempt) + floor), count / 2);
      choice.is_possible = likelihood >= kPossible;
      result_.choices.push_back(choice);
    };
    add(best);
    for (const Attempt& other : others) add(other);
    for (std::size_t i = 1; i < result_.choices.size(); ++i)
      if (result_.choices[i].is_possible)
        result_.words.push_back(
            fmt::format("not told apart: {} fits nearly as well as {} ({:.2g} % left, and {:.2g} %)",
                        words_of(result_.choices[i].values), words_of(result_.choices[0].values),
                        100 * result_.choices[i].spread, 100 * result_.choices[0].spread));
  }

  static std::string words_of(const Json& values) {
    std::vector<std::string> words;
    for (const auto& [path, value] : values.items()) words.push_back(last_key(path) + " " + plain(value));
    return join(words);
  }

  std::vector<double> values_at(const FitPoint& point) const {
    std::vector<double> values;
    for (std::size_t k = 0; k < numbers_.size(); ++k) values.push_back(numbers_[k].value_at(point[k]));
    return values;
  }

  void find_values(Attempt& best) {
    if (numbers_.empty()) return;
    const double far = result_.variance.quantile() * std::max(result_.variance.deviation, kExact);
    const std::vector<Profile> profiles =
        best.squares->profiles(best.minimum, [&](const FitMinimum& at) { return at.sum + far * far; });
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      FittedValue value{numbers_[k]};
      value.value = numbers_[k].value_at(best.minimum.at[k]);
      const Profile& profile = profiles[k];
      value.others_low = values_at(profile.low.at);
      value.others_high = values_at(profile.high.at);
      value.is_bounded_below = profile.low.is_bounded;
      value.is_bounded_above = profile.high.is_bounded;
      value.low = profile.low.is_bounded ? value.others_low[k] : numbers_[k].low();
      value.high = profile.high.is_bounded ? value.others_high[k] : numbers_[k].high();
      result_.values.push_back(value);
    }
    find_axes(best);
    say_what_is_not_told();
  }

  std::vector<double> sums_at(const Attempt& best, const std::vector<FitPoint>& points) const {
    std::vector<double> sums;
    for (const std::vector<double>& predicted : best.predictions->at(points, fitted_))
      sums.push_back(sum_at(predicted));
    return sums;
  }

  void find_axes(const Attempt& best) {
    const double far = result_.variance.quantile() * std::max(result_.variance.deviation, kExact);
    axis_ends_ = axis_ends(best.squares->information(best.minimum), best.minimum, far,
                           [&](const std::vector<FitPoint>& points) { return sums_at(best, points); });
    for (const auto& [minus, plus] : axis_ends_) result_.axes.emplace_back(values_at(minus), values_at(plus));
  }

  // Between the ends of one's profile the other goes through so much of its own interval: of a plane that is
  // their correlation.
  double told_together(std::size_t one, std::size_t other) const {
    const FittedValue &a = result_.values[one], &b = result_.values[other];
    const auto place = [&](double value) { return b.unknown.place_of(value); };
    const double all = place(b.high) - place(b.low);
    return all > 0 ? std::abs(place(a.others_high[other]) - place(a.others_low[other])) / all : 0;
  }

  void say_what_is_not_told() {
    std::vector<std::string> open;
    for (const FittedValue& one : result_.values) {
      const std::string name = last_key(one.unknown.path());
      const auto text = [&](double value) { return one.unknown.for_people(value); };
      constexpr double kEnd = 1e-6;
      const double place = one.unknown.place_of(one.value);
      if (place > 1 - kEnd || (place < kEnd && one.unknown.low() > 0))
        result_.words.push_back(fmt::format("{} fits best at the end of its range, {}: it may lie outside",
                                            name, text(one.value)));
      if (one.is_bounded_below && one.is_bounded_above) continue;
      if (!one.is_bounded_below && !one.is_bounded_above) {
        open.push_back(name);
        result_.words.push_back(fmt::format("{}: the observations do not bound it between {} and {}", name,
                                            text(one.low), text(one.high)));
      } else {
        result_.words.push_back(
            one.is_bounded_below
                ? fmt::format("{}: at least {}; up to the end of its range, {}, all fits as well", name,
                              text(one.low), text(one.high))
                : fmt::format("{}: at most {}; down to the end of its range, {}, all fits as well", name,
                              text(one.high), text(one.low)));
      }
    }
    if (open.size() > 1)
      result_.words.push_back(fmt::format("{} are not told apart", enumeration(open, "and")));
    for (std::size_t a = 0; a < result_.values.size(); ++a)
      for (std::size_t b = a + 1; b < result_.values.size(); ++b)
        if (std::min(told_together(a, b), told_together(b, a)) > kNotTold) say_pair(a, b);
  }

  void say_pair(std::size_t a, std::size_t b) {
    const FittedValue &one = result_.values[a], &other = result_.values[b];
    const auto at = [&](const std::vector<double>& ends) {
      return fmt::format("{} {} with {} {}", last_key(one.unknown.path()), one.unknown.for_people(ends[a]),
                         last_key(other.unknown.path()), other.unknown.for_people(ends[b]));
    };
    result_.words.push_back(fmt::format("{} and {} are hardly told apart: {} fits as well as {}",
                                        last_key(one.unknown.path()), last_key(other.unknown.path()),
                                        at(one.others_low), at(one.others_high)));
  }

  // Fitted things first.
  void predict_all(Attempt& best) {
    std::vector<const ObservedThing*> all;
    for (const ObservedThing& thing : things_) all.push_back(&thing);
    std::stable_sort(all.begin(), all.end(), [](const ObservedThing* a, const ObservedThing* b) {
      return a->is_fitted > b->is_fitted;
    });
    std::vector<FitPoint> points = {best.minimum.at};
    for (const auto& [minus, plus] : axis_ends_) points.insert(points.end(), {minus, plus});
    const std::vector<std::vector<double>> predicted = best.predictions->at(points, all);
    for (std::size_t t = 0; t < all.size(); ++t) {
      std::vector<double> of_thing;
      for (const std::vector<double>& at_point : predicted) of_thing.push_back(at_point[t]);
      result_.residuals.push_back(residual_of(*all[t], of_thing, result_.variance,
                                              best.predictions->model_deviation(best.minimum.at, *all[t])));
    }
  }

  const Json& scenario_;
  const FitTools& tools_;
  const std::vector<Case> cases_;  // of the scenario as it is
  const std::vector<Unknown> numbers_;
  const std::vector<Json> choices_;
  std::vector<ObservedThing> things_;
  std::vector<const ObservedThing*> fitted_;
  std::vector<double> means_, counts_, weights_;
  double within_ = 0;  // sum of squares of repeats about their means
  std::vector<std::pair<FitPoint, FitPoint>> axis_ends_;
  FitResult result_;
};

// As fitted_scenario() has written it.
FitVariance variance_of(const Json& section) {
  FitVariance variance;
  if (!section.is_object() || !section.contains("deviation")) return variance;
  variance.deviation = section["deviation"];
  variance.freedom = section.value("degrees_of_freedom", 0);
  variance.spread = from_word<FitSpread>(section.value("variance_from", "published"), "fit.variance_from");
  return variance;
}

// What is found without replays varies by itself: an axis each.
void add_from_steps(const std::vector<FittedValue>& from_steps, FitResult& result) {
  for (const FittedValue& one : from_steps) {
    for (auto& [minus, plus] : result.axes) {
      minus.push_back(one.value);
      plus.push_back(one.value);
    }
    std::vector<double> minus = each_of(result.values, [](const FittedValue& other) { return other.value; });
    std::vector<double> plus = minus;
    minus.push_back(one.low);
    plus.push_back(one.high);
    result.axes.emplace_back(minus, plus);
    result.values.push_back(one);
  }
}

}  // namespace

double FitVariance::quantile() const {
  const double tail = (1 - kFitConfidence) / 2;
  if (freedom == 0) return boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), tail));
}

double FitVariance::squares_of_one_more(std::size_t count, const std::optional<double>& model) const {
  const double chance = quantile() * deviation, of_model = FitVariance{}.quantile() * model.value_or(0);
  if (spread == FitSpread::kRepeats)
    return chance * chance / static_cast<double>(count) + of_model * of_model;
  return std::max(chance * chance, of_model * of_model);
}

FitResult fit(const Json& scenario, std::vector<Unknown> unknowns, const Observations& observations,
              const FitTools& tools) {
  std::vector<FittedValue> from_steps = values_from_steps(unknowns, observations.steps);
  Json with_steps = scenario;
  for (const FittedValue& one : from_steps)
    assign_in_scenario(with_steps, one.unknown.path(), one.unknown.written(one.value), "fit.unknown");
  FitResult result;
  if (unknowns.empty()) {
    result.words = observations.notes;
    result.observations = observations.steps.size();
  } else {
    result = Fitting(with_steps, unknowns, observations, tools).run();
  }
  add_from_steps(from_steps, result);
  return result;
}

namespace {

// By what the scenario's section `fit` says of its source.
bool was_fitted(const Json& section, const Observations& observations, const ObservedThing& thing) {
  const std::string& content =
      thing.row && !thing.row->content.empty() ? thing.row->content : observations.content;
  return thing.is_fitted && !content.empty() &&
         plain(member(section, "source")).find(content) != std::string::npos;
}

}  // namespace

FitResult verify(const Json& scenario, const Observations& observations, const FitTools& tools) {
  const Json section = member(scenario, "fit"), axes = member(section, "axes");
  FitResult result;
  result.words = observations.notes;
  std::vector<ObservedThing> things = things_of(observations, result.words);
  if (things.empty())
    throw InputError({observations.file, "", "found nothing that can be predicted",
                      "exchanges with bytes and times of all ranks, or rows",
                      join_some(observations.notes, 3)});
  std::vector<const ObservedThing*> all;
  for (ObservedThing& thing : things) {
    thing.is_fitted = was_fitted(section, observations, thing);
    all.push_back(&thing);
    result.observations += thing.times.size();
  }
  result.things = things.size();
  const std::vector<Case> cases = tools.cases(scenario);
  const std::vector<Unknown> none;
  std::vector<Json> ends = {Json::object()};
  if (axes.is_array())
    for (const Json& pair : axes) ends.insert(ends.end(), {pair.at(0), pair.at(1)});
  std::vector<std::vector<double>> predicted;
  for (const Json& end : ends) {
    Predictions predictions(scenario, cases, none, end, tools);
    predicted.push_back(predictions.at({{}}, all)[0]);
    result.replays += predictions.replays();
  }
  Predictions itself(scenario, cases, none, Json::object(), tools);
  for (std::size_t t = 0; t < all.size(); ++t) {
    const std::optional<double> model = itself.model_deviation({}, *all[t]);
    FitVariance variance = variance_of(section);
    if (!section.contains("deviation")) variance.deviation = kPublishedDeviation;
    std::vector<double> of_thing;
    for (const std::vector<double>& at_end : predicted) of_thing.push_back(at_end[t]);
    result.residuals.push_back(residual_of(*all[t], of_thing, variance, model));
  }
  result.variance = variance_of(section);
  if (const auto fitted = as_index(count_if(things, [](const ObservedThing& one) { return one.is_fitted; })))
    result.words.push_back(fmt::format(
        "{} of {} {} what the scenario was fitted to: that they agree says nothing of its predictions",
        fitted, counted(things.size(), "thing"), fitted == 1 ? "is" : "are"));
  return result;
}

}  // namespace longhaul
