#include "core/scenario/metrics.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

using Unit = Metric::Unit;

// Chainable, so that metrics() reads as a table.
struct MetricBuilder : Metric {
  MetricBuilder(const std::string& name, Unit of) {
    path = name;
    unit = of;
  }

  MetricBuilder& means(const char* words) { return meaning = words, *this; }
  MetricBuilder& lower() { return better = Better::kLower, *this; }
  MetricBuilder& higher() { return better = Better::kHigher, *this; }
  MetricBuilder& with_exchanges() { return of_exchanges = true, *this; }
  MetricBuilder& network_time() { return depends_on_network_time = true, *this; }
  MetricBuilder& by_default() { return compared = true, *this; }
  MetricBuilder& until(const char* goal) { return target = goal, *this; }
  MetricBuilder& column(int place, const char* short_words, const char* words) {
    importance = place;
    heading = short_words;
    title = words;
    return *this;
  }

  // One statistic of a distribution: all that was said of the whole holds for it.
  MetricBuilder at(const char* statistic) const {
    MetricBuilder declared = *this;
    declared.path += std::string(".") + statistic;
    return declared;
  }
};

bool has_suffix(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Unit unit_by_name(const std::string& path) {
  const std::string root = path.substr(0, path.find('.'));
  if (root.find("loss") != std::string::npos || root.find("entropy") != std::string::npos) return Unit::kNats;
  if (has_suffix(root, "_s")) return Unit::kSeconds;
  if (has_suffix(root, "_fraction")) return Unit::kFraction;
  return root.rfind("bytes_", 0) == 0 ? Unit::kBytes : Unit::kNone;
}

constexpr auto in_nats = [](const char* path) { return MetricBuilder(path, Unit::kNats).lower(); };
constexpr auto in_seconds = [](const char* path) { return MetricBuilder(path, Unit::kSeconds); };
constexpr auto in_bytes = [](const char* path) { return MetricBuilder(path, Unit::kBytes).lower(); };
constexpr auto counted = [](const char* path) { return MetricBuilder(path, Unit::kCount); };

std::vector<Metric> of_learning() {
  return {
      in_nats("final_loss")
          .column(1, "loss", "Final loss")
          .by_default()
          .means("validation loss after the last step, mean over replicas, in nats"),
      in_nats("final_loss_of_mean")
          .column(21, "of mean", "Loss of mean")
          .means("validation loss of the averaged weights after the last step"),
      in_nats("final_loss_of_ensemble")
          .column(22, "ensemble", "Loss of ensemble")
          .means("validation loss of the mean of the replicas' predicted probabilities after the last step"),
      in_nats("best_loss"),
      MetricBuilder("perplexity", Unit::kNone).lower(),
      in_seconds("time_to_target_s")
          .lower()
          .network_time()
          .until("target_loss")
          .column(2, "to target", "Time to target")
          .by_default()
          .means("simulated time until the validation loss is at the target"),
      MetricBuilder("weight_spread", Unit::kNone)
          .column(19, "spread", "Weight spread")
          .means("root mean square distance of the replicas' weights from their mean"),
      counted("tokens"),
  };
}

std::vector<Metric> of_waiting() {
  const MetricBuilder
      sync = in_seconds("sync_time_s").lower().with_exchanges().network_time(),
      wait = in_seconds("wait_s").lower().with_exchanges().network_time(),
      exposed = in_seconds("exposed_s").lower().with_exchanges().network_time(),
      idle = MetricBuilder("idle_fraction", Unit::kFraction).lower().with_exchanges().network_time();
  return {
      sync.at("mean")
          .column(8, "sync", "Sync, mean")
          .by_default()
          .means("from the moment all it needs are ready until a replica goes on"),
      sync.at("p50"),
      sync.at("p95").column(17, "p95", "Sync, p95").means("95th percentile of the synchronization time"),
      sync.at("max"),
      sync.at("last"),
      wait.at("mean")
          .column(16, "wait", "Wait, mean")
          .by_default()
          .means("until the last of those a replica must hear from is ready"),
      wait.at("p50"),
      wait.at("p95"),
      wait.at("max"),
      exposed.at("mean")
          .column(18, "exposed", "Exposed, mean")
          .means("what a replica stands still for a synchronization: wait and sync, less what overlaps with "
                 "compute"),
      exposed.at("p50"),
      exposed.at("p95"),
      exposed.at("max"),
      idle.at("mean")
          .column(10, "idle", "Idle")
          .by_default()
          .means("share of its time in which an accelerator could compute and does not"),
      idle.at("max"),
      MetricBuilder("bubble_fraction", Unit::kFraction)
          .lower()
          .at("mean")
          .column(12, "bubble", "Bubble")
          .means(
              "with stages: share of its time that a worker waits because of the schedule, on any network"),
      MetricBuilder("bubble_fraction", Unit::kFraction).lower().at("max"),
      MetricBuilder("stage_wait_fraction", Unit::kFraction)
          .lower()
          .network_time()
          .at("mean")
          .column(13, "stage wait", "Stage wait")
          .means(
              "with stages: share of its time that a worker waits for activations and gradients to arrive"),
      MetricBuilder("stage_wait_fraction", Unit::kFraction).lower().network_time().at("max"),
      MetricBuilder("inside_wait_fraction", Unit::kFraction)
          .lower()
          .network_time()
          .at("mean")
          .column(26, "inside wait", "Inside wait")
          .means("with parallelism: share of its time that a replica waits for collectives inside its steps"),
      MetricBuilder("inside_wait_fraction", Unit::kFraction).lower().network_time().at("max"),
  };
}

std::vector<Metric> of_work() {
  return {
      in_seconds("step_time_s")
          .lower()
          .network_time()
          .column(23, "step", "Step time")
          .means("simulated time over steps, exchanges between replicas included"),
      MetricBuilder("tokens_per_s", Unit::kNone)
          .higher()
          .network_time()
          .column(27, "tokens/s", "Tokens a second")
          .means("tokens that all replicas together train on in a simulated second"),
      MetricBuilder("accelerator_hours", Unit::kNone)
          .lower()
          .network_time()
          .column(28, "accelerator h", "Accelerator hours")
          .means("simulated time of the whole run times accelerators, waiting included"),
      in_bytes("stage_bytes_per_step"),
      counted("stage_moves"),
      in_bytes("state_bytes_moved"),
      MetricBuilder("useful_steps_per_s", Unit::kNone)
          .higher()
          .network_time()
          .column(25, "useful steps/s", "Useful steps")
          .means(
              "where replicas may crash, be late or take dynamic steps: steps of replicas a simulated second "
              "that went into the model"),
      MetricBuilder("goodput_tokens_per_s", Unit::kNone).higher().network_time(),
      MetricBuilder("participation", Unit::kFraction)
          .column(15, "there", "Participation")
          .means("where replicas may crash: share of the time in which a replica takes part, on average"),
      MetricBuilder("lost_fraction", Unit::kFraction)
          .lower()
          .column(14, "lost", "Lost compute")
          .means("where replicas may crash or be late: share of all compute that went into no model"),
      MetricBuilder("committed_fraction", Unit::kFraction).higher(),
      counted("crashes"),
      counted("useful_steps"),
      counted("discarded_exchanges"),
      in_seconds("recovery_s").lower().network_time().at("mean"),
      in_seconds("recovery_s").lower().network_time().at("p50"),
      in_seconds("recovery_s").lower().network_time().at("p95"),
      in_seconds("recovery_s").lower().network_time().at("max"),
      in_bytes("recovery_bytes"),
      MetricBuilder("boundary_bits", Unit::kNone).lower().at("mean"),
      MetricBuilder("boundary_bits", Unit::kNone).lower().at("last"),
      in_seconds("compute_time_s"),
      in_seconds("bubble_time_s").lower(),
      in_seconds("stage_wait_time_s").lower().network_time(),
      in_seconds("inside_wait_time_s").lower().network_time(),
      in_seconds("batch_wait_time_s").lower().network_time(),
      in_seconds("exchange_time_s").lower().network_time(),
      in_seconds("wait_time_s").lower().network_time(),
      in_seconds("simulated_time_s")
          .lower()
          .with_exchanges()
          .network_time()
          .column(9, "simulated", "Simulated time")
          .by_default()
          .means("the clock of the last replica after the last step"),
      in_bytes("bytes_sent_per_replica")
          .with_exchanges()
          .column(11, "sent", "Sent per replica")
          .means("payload that one replica sent, between its stages too, in the whole run; no state that "
                 "another one "
                 "downloads, no weights for rollouts"),
      in_bytes("bytes_per_sync"),
      in_bytes("bytes_per_token"),
      counted("exchanges")
          .with_exchanges()
          .column(20, "syncs", "Outer steps")
          .means("how many times each replica synchronized"),
  };
}

std::vector<Metric> of_rollouts() {
  const MetricBuilder refit = in_seconds("refit_time_s").lower().network_time(),
                      staleness = MetricBuilder("staleness", Unit::kNone).lower().network_time(),
                      waited = in_seconds("batch_wait_s").lower().network_time(),
                      idle = MetricBuilder("rollout_idle_fraction", Unit::kFraction).lower().network_time();
  return {
      refit.at("mean")
          .column(3, "refit", "Refit, mean")
          .by_default()
          .means("with rollouts: from the end of a step until all groups generate with the weights that it "
                 "trained"),
      refit.at("p50"),
      refit.at("p95"),
      refit.at("max"),
      staleness.at("mean")
          .column(4, "staleness", "Staleness, mean")
          .by_default()
          .means("with rollouts: by how many versions a sample's weights are older than those that its step "
                 "trains"),
      staleness.at("p95"),
      staleness.at("max"),
      waited.at("mean")
          .column(6, "batch wait", "Wait for samples")
          .means("with rollouts: how long a step waits for its samples"),
      waited.at("p50"),
      waited.at("p95"),
      waited.at("max"),
      idle.at("mean")
          .column(5, "rollouts idle", "Rollouts idle")
          .by_default()
          .means("with rollouts: share of its time in which a group generates nothing"),
      idle.at("max"),
      MetricBuilder("rollout_slot_use", Unit::kFraction).network_time(),
      MetricBuilder("samples_per_s", Unit::kNone).network_time(),
      MetricBuilder("rollout_accelerator_hours", Unit::kNone).lower().network_time(),
      counted("versions"),
      in_bytes("bytes_per_version"),
      in_bytes("egress_bytes"),
      MetricBuilder("cost", Unit::kNone)
          .lower()
          .network_time()
          .column(7, "cost", "Cost")
          .by_default()
          .means(
              "with prices: accelerators of trainers and rollouts, and what leaves a site, in the currency "
              "of rollouts.prices"),
  };
}

// Of a text like "10min", and not "5GB" or "equal_time".
bool is_duration(const std::string& text) {
  try {
    parse_duration(text);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> together;
    for (const auto part : {of_learning, of_waiting, of_work, of_rollouts})
      for (Metric& metric : part()) together.push_back(std::move(metric));
    return together;
  }();
  return all;
}

std::vector<std::string> metric_paths() {
  std::vector<std::string> paths;
  for (const Metric& metric : metrics()) paths.push_back(metric.path);
  return paths;
}

Metric metric_named(const std::string& path) {
  const auto found = std::find_if(metrics().begin(), metrics().end(),
                                  [&](const Metric& metric) { return metric.path == path; });
  if (found != metrics().end()) return *found;
  Metric other;
  other.path = path;
  other.unit = unit_by_name(path);
  if (path.rfind("loss@", 0) == 0) {  // analysis/comparison/budget_loss.h, equal_budget.h
    other.better = Metric::Better::kLower;
    other.depends_on_network_time = is_duration(path.substr(5));
  }
  return other;
}

bool follows_from_training(const Metric& metric) {
  if (metric.unit == Unit::kNats || !metric.target.empty()) return true;
  const std::string root = metric.path.substr(0, metric.path.find('.'));
  return root == "perplexity" || root == "weight_spread" || root == "boundary_bits";
}

std::string unit_sign(Unit unit) {
  switch (unit) {
    case Unit::kNats:
      return "nats";
    case Unit::kSeconds:
      return "s";
    case Unit::kBytes:
      return "B";
    default:
      return "";
  }
}

}  // namespace longhaul
