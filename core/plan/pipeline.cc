#include "core/plan/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"
#include "core/plan/hidden_units.h"
#include "core/plan/paths.h"

namespace longhaul {
namespace {

// Floating-point operations of a forward pass of one token: two for each weight of a matrix, and attention
// over the half of the context that a token sees on average. An embedding is looked up.
double layer_work(const ModelShape& shape) {
  const LatentAttention& latent = shape.latent;
  const double head =
      latent.rank > 0 ? latent.plain + latent.turned + latent.value : 2 * shape.width_of_head();
  return 2 * shape.layer_weights() + shape.heads * head * shape.context;
}

double output_work(const ModelShape& shape) {
  return 2. * shape.hidden * shape.vocabulary;
}

// As equal as can be, the first ones with one more.
std::vector<int> equal_counts(int layers, int parts) {
  std::vector<int> counts(as_index(parts), layers / parts);
  for (int part = 0; part < layers % parts; ++part) ++counts[as_index(part)];
  return counts;
}

// The counts whose largest part has the least work; of these the ones whose early parts are larger. Every
// part but the last has a layer: the output is work of the last.
std::vector<int> balanced_counts(const ModelShape& shape, int parts) {
  const double layer = layer_work(shape), output = output_work(shape);
  std::vector<int> best;
  double least = 0;
  for (int last = shape.layers / parts; last >= 0 && shape.layers - last >= parts - 1; --last) {
    std::vector<int> counts = equal_counts(shape.layers - last, parts - 1);
    counts.push_back(last);
    const double largest = std::max(layer * counts.front(), layer * last + output);
    if (!best.empty() && largest >= least) continue;
    best = counts;
    least = largest;
  }
  return best;
}

std::vector<int> layer_counts(const PipelineSpec& spec, const ModelShape& shape) {
  const int parts = spec.parts();
  if (spec.cut == PipelineCut::kGiven) {
    if (std::accumulate(spec.layers.begin(), spec.layers.end(), 0) != shape.layers)
      throw InputError("pipeline.cut",
                       fmt::format("found parts of {} layers together",
                                   std::accumulate(spec.layers.begin(), spec.layers.end(), 0)),
                       fmt::format("counts that add up to the model's {}", shape.layers));
    return spec.layers;
  }
  if (parts > shape.layers)
    throw InputError(spec.chunks > 1 ? "pipeline.chunks" : "pipeline.stages",
                     fmt::format("found {} parts of a model with {} layers", parts, shape.layers),
                     fmt::format("at most {} parts", shape.layers), "each part has a layer at least");
  if (parts == 1 || spec.cut == PipelineCut::kLayers) return equal_counts(shape.layers, parts);
  return balanced_counts(shape, parts);
}

std::vector<PipelinePart> parts_of_model(const PipelineSpec& spec, const ModelShape& shape) {
  if (spec.parts() > 1 && shape.tied)
    throw InputError("workload.model.tied", "found true beside a pipeline", "false",
                     "the first and the last stage would both have the matrix, and no exchange joins them");
  const std::vector<int> counts = layer_counts(spec, shape);
  const std::vector<ColumnRange> layers = layer_columns(shape);
  const double all = layer_work(shape) * shape.layers + output_work(shape);
  std::vector<PipelinePart> parts;
  std::int64_t begin = 0;
  int layer = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool is_last = i + 1 == counts.size();
    const int end_layer = layer + counts[i];
    const std::int64_t end = is_last         ? shape.parameters()
                             : end_layer > 0 ? layers[as_index(end_layer - 1)].end
                                             : layers.front().begin;
    const double work = layer_work(shape) * counts[i] + (is_last ? output_work(shape) : 0);
    parts.push_back({layer, end_layer, {begin, end}, work / all});
    begin = end;
    layer = end_layer;
  }
  return parts;
}

std::vector<PipelinePart> equal_parts(const PipelineSpec& spec, std::int64_t parameters) {
  if (spec.cut != PipelineCut::kLayers)
    throw InputError("pipeline.cut", "found beside workload.parameters", "\"layers\"",
                     "give workload.model: a bare number of parameters has no layers, and is cut evenly");
  const int count = spec.parts();
  // part · parameters / count without a product that 64 bits do not hold
  const auto begin_of = [&](int part) {
    return parameters / count * part + parameters % count * part / count;
  };
  std::vector<PipelinePart> parts;
  for (int part = 0; part < count; ++part)
    parts.push_back({0, 0, {begin_of(part), begin_of(part + 1)}, 1. / count});
  return parts;
}

std::int64_t hop_bytes(const BoundarySpec& boundary, const std::optional<Quantized>& codec,
                       const std::optional<ModelShape>& shape, std::int64_t tokens, Wire wire) {
  const auto check = [&](double of_token) {
    if (of_token * static_cast<double>(tokens) > static_cast<double>(kMostParameters))
      throw InputError("workload.tokens",
                       fmt::format("found {} of {:.6g} numbers each in a micro-batch", tokens, of_token),
                       fmt::format("at most {:.3g} numbers", static_cast<double>(kMostParameters)));
  };
  if (boundary.bytes_per_token > 0) {
    check(boundary.bytes_per_token);
    return std::llround(boundary.bytes_per_token * static_cast<double>(tokens));
  }
  if (!shape)
    throw InputError("pipeline.bytes_per_token", "this key is missing", "a number above 0",
                     "workload.parameters does not say how wide the model is; or give workload.model");
  if (boundary.subspace > shape->hidden)
    throw InputError("pipeline.subspace", fmt::format("found {}", boundary.subspace),
                     fmt::format("at most {}, the model's hidden", shape->hidden));
  const int width = boundary.subspace > 0 ? boundary.subspace : shape->hidden;
  check(width);
  return encoded_bytes(codec ? Codec(*codec) : Codec(wire), tokens * width);
}

// The next stages know a token's fixed embedding by its id.
std::int64_t id_bytes(const BoundarySpec& boundary, const std::optional<ModelShape>& shape,
                      std::int64_t tokens) {
  if (boundary.subspace == 0 || boundary.bytes_per_token > 0) return 0;
  return tokens * (shape->vocabulary <= 65536 ? 2 : 4);
}

std::int64_t tokens_of_microbatch(const PipelineSpec& spec, std::int64_t tokens) {
  if (tokens == 0 && spec.has_stages())
    throw InputError("workload.tokens", "this key is missing", "an integer of at least 1",
                     "tokens per replica and step: they pass from stage to stage");
  if (tokens % spec.microbatches != 0)
    throw InputError("pipeline.microbatches",
                     fmt::format("found {} for {} tokens of a replica and step", spec.microbatches, tokens),
                     "a divisor of them");
  return tokens / spec.microbatches;
}

PipelinePlan::BytesByBits by_bits_from(const Json& json, std::size_t hops) {
  using Tables = std::vector<std::vector<std::int64_t>>;
  PipelinePlan::BytesByBits by_bits;
  const std::int64_t fewest = number_at(json, "fewest");
  by_bits.fewest = fewest >= kFewestWholeBits && fewest <= kMostWholeBits ? static_cast<int>(fewest) : 0;
  by_bits.forward = json.at("forward_bytes").get<Tables>();
  by_bits.backward = json.at("backward_bytes").get<Tables>();
  bool is_whole = !by_bits.forward.empty() && by_bits.forward.size() == by_bits.backward.size() &&
                  by_bits.fewest >= kFewestWholeBits && by_bits.forward.size() <= as_index(kMostWholeBits) &&
                  by_bits.most() <= kMostWholeBits;
  for (const Tables* tables : {&by_bits.forward, &by_bits.backward})
    for (const auto& of_hops : *tables) is_whole &= of_hops.size() == hops;
  if (!is_whole)
    throw InputError("pipeline.by_bits", "found " + json.dump(),
                     "bytes for each hop, by bits from 2 to 8, both ways");
  return by_bits;
}

}  // namespace

std::int64_t PipelinePlan::bytes_of_step() const {
  std::int64_t bytes = 0;
  for (const auto* of_hops : {&forward_bytes, &backward_bytes})
    if (skip > 0)  // all hops have as many
      bytes += std::int64_t{microbatches} * hops_of_microbatch() * of_hops->front();
    else
      for (const std::int64_t of_one : *of_hops) bytes += microbatches * of_one;
  return bytes;
}

Columns PipelinePlan::columns_of(int stage) const {
  Columns columns;
  for (int part = stage; part < part_count(); part += stages) append(columns, parts[as_index(part)].columns);
  return columns;
}

double PipelinePlan::share_of(int stage) const {
  double share = 0;
  for (int part = stage; part < part_count(); part += stages) share += parts[as_index(part)].share;
  return share;
}

// Of a worker's messages in a step each has a number below 2^20 (MessageKey).
constexpr std::int64_t kMostTasks = 1 << 18;

// Of parts x skipped parts x micro-batches; what there is to plan.
constexpr std::int64_t kMostPlanned = 1 << 24;

void check_partial(const PipelinePlan& plan) {
  if (!plan.is_partial()) return;
  const std::int64_t planned = std::int64_t{plan.part_count()} * (plan.skip + 1) * plan.microbatches;
  if (planned > kMostPlanned)
    throw InputError("pipeline.skip",
                     fmt::format("found {} with {} stages and {} micro-batches", plan.skip, plan.stages,
                                 plan.microbatches),
                     fmt::format("stages x (skip + 1) x microbatches of at most {}", kMostPlanned));
  if (!plan.reorders) return;
  const auto size_of = [&](int part) { return plan.parts[as_index(part)].columns.size(); };
  bool are_alike = plan.part_count() > 3;
  for (int part = 2; part + 1 < plan.part_count(); ++part) are_alike &= size_of(part) == size_of(1);
  if (!are_alike)
    throw InputError("pipeline.reorder", "found true, with parts that are not alike",
                     "two parts or more between the first and the last one, all of as many layers",
                     "each works in its neighbour's place; pipeline.cut says the layers of each");
}

// Of each number of bits; `bytes`: of a hop in that format.
template <typename Bytes>
void add_learned(const LearnedBits& learned, const Bytes& bytes, PipelinePlan& plan) {
  // Not emplace(): clang 14 takes the nested class for incomplete.
  plan.by_bits = PipelinePlan::BytesByBits{};
  plan.by_bits->fewest = learned.floor;
  for (int bits = learned.floor; bits <= learned.ceiling; ++bits) {
    plan.forward_bytes.assign(as_index(plan.hop_count()), bytes(learned.format_of(bits)));
    if (learned.gradients) plan.backward_bytes = plan.forward_bytes;
    plan.by_bits->forward.push_back(plan.forward_bytes);
    plan.by_bits->backward.push_back(plan.backward_bytes);
  }
}

PipelinePlan pipeline_plan(const PipelineSpec& spec, const std::optional<ModelShape>& shape,
                           std::int64_t parameters, std::int64_t tokens, Wire wire) {
  PipelinePlan plan{spec.stages, spec.microbatches, spec.schedule, spec.routing, spec.backward, spec.blocks};
  if (std::int64_t{spec.parts()} * spec.microbatches > kMostTasks)
    throw InputError("pipeline.microbatches",
                     fmt::format("found {} with {} parts", spec.microbatches, spec.parts()),
                     fmt::format("at most {} for each part of the model", kMostTasks / spec.parts()));
  const std::int64_t of_one = tokens_of_microbatch(spec, tokens);
  plan.parts = shape ? parts_of_model(spec, *shape) : equal_parts(spec, parameters);
  const BoundarySpec& boundary = spec.boundary;
  const auto bytes = [&](const std::optional<Quantized>& codec) {
    return hop_bytes(boundary, codec, shape, of_one, wire);
  };
  for (int hop = 0; hop < plan.hop_count(); ++hop) {
    plan.forward_bytes.push_back(bytes(boundary.activations.at(hop)) + id_bytes(boundary, shape, of_one));
    plan.backward_bytes.push_back(bytes(boundary.gradients.at(hop)));
  }
  if (boundary.learned && plan.hop_count() > 0) add_learned(*boundary.learned, bytes, plan);
  plan.skip = spec.skip;
  plan.reorders = spec.reorders;
  check_partial(plan);
  if (plan.is_partial() && spec.partial == PartialPaths::kScheduled) {
    std::vector<double> forward(plan.parts.size(), 1);
    for (std::size_t part = 0; part < spec.layers.size(); ++part)
      forward[part] = spec.layers[part] > 0 ? 1 : 0;
    plan.orders = scheduled_orders(plan, forward);
  }
  return plan;
}

// `warm_up` forward passes, then one forward and one backward in turn, then the backward passes that are
// left. As many micro-batches as there are stages go through one chunk, then the same through the next one.
std::vector<PipelineTask> tasks_of_stage(const PipelinePlan& plan, int stage) {
  const int stages = plan.stages, chunks = plan.part_count() / stages, behind = stages - stage - 1;
  const int count = plan.microbatches * chunks;
  const auto pass = [&](bool is_forward, int number) {
    const int chunk = number % (stages * chunks) / stages;
    return PipelineTask{is_forward, (is_forward ? chunk : chunks - 1 - chunk) * stages + stage,
                        number / (stages * chunks) * stages + number % stages};
  };
  int warm_up = count;  // kGpipe
  if (plan.schedule == PipelineSchedule::k1f1b) warm_up = std::min(behind, count);
  if (plan.schedule == PipelineSchedule::kInterleaved)
    warm_up = std::min(2 * behind + (chunks - 1) * stages, count);
  std::vector<PipelineTask> tasks;
  for (int k = 0; k < count + warm_up; ++k) {
    if (k < count) tasks.push_back(pass(true, k));
    if (k >= warm_up) tasks.push_back(pass(false, k - warm_up));
  }
  return tasks;
}

Json to_json(const PipelinePlan& plan) {
  Json json = {{"stages", plan.stages},
               {"microbatches", plan.microbatches},
               {"schedule", word_of(plan.schedule)},
               {"routing", word_of(plan.routing)},
               {"backward", plan.backward},
               {"blocks", plan.blocks},
               {"parts", Json::array()},
               {"forward_bytes", plan.forward_bytes},
               {"backward_bytes", plan.backward_bytes}};
  if (plan.is_partial())
    json["partial"] = {{"skip", plan.skip}, {"reorder", plan.reorders}, {"orders", plan.orders}};
  for (const PipelinePart& part : plan.parts)
    json["parts"].push_back({{"layers", {part.first_layer, part.end_layer}},
                             {"columns", {part.columns.begin, part.columns.end}},
                             {"share", part.share}});
  if (plan.by_bits)
    json["by_bits"] = {{"fewest", plan.by_bits->fewest},
                       {"forward_bytes", plan.by_bits->forward},
                       {"backward_bytes", plan.by_bits->backward}};
  return json;
}

namespace {

// What is met at the places of one micro-batch's way.
bool is_order(const PipelinePlan& plan, const std::vector<int>& order) {
  std::vector<int> met;
  for (std::size_t place = 0; place < order.size(); ++place)
    if (order[place] >= 0) met.push_back(order[place]);
  if (order.size() != plan.parts.size() || met.size() + as_index(plan.skip) != order.size()) return false;
  const bool has_ends = order.front() == 0 && order.back() + 1 == plan.part_count();
  std::sort(met.begin(), met.end());
  return has_ends && met.back() < plan.part_count() &&
         std::adjacent_find(met.begin(), met.end()) == met.end();
}

void read_partial(const Json& json, PipelinePlan& plan) {
  const Json partial = member(json, "partial");
  if (partial.is_null()) return;
  plan.skip = static_cast<int>(
      in_range("pipeline.partial.skip", number_at(partial, "skip"), 0, std::max(0, plan.part_count() - 2)));
  plan.reorders = partial.at("reorder");
  const auto refuse = [](const Json& found) {
    throw InputError("pipeline.partial.orders", "found " + found.dump(),
                     "for each micro-batch what it meets at each place of the model, -1 for nothing");
  };
  for (const Json& entry : partial.at("orders")) {
    std::vector<int> order;
    for (const std::int64_t part : entry.get<std::vector<std::int64_t>>())
      order.push_back(part < plan.part_count() ? static_cast<int>(std::max<std::int64_t>(part, -1))
                                               : plan.part_count());
    if (!is_order(plan, order)) refuse(entry);
    plan.orders.push_back(std::move(order));
  }
  if (!plan.orders.empty() && static_cast<int>(plan.orders.size()) != plan.microbatches)
    refuse(fmt::format("{} of them", plan.orders.size()));
}

}  // namespace

PipelinePlan pipeline_from(const Json& json, std::int64_t parameters) {
  PipelinePlan plan;
  const auto count = [&json](const char* key, std::int64_t most) {
    return static_cast<int>(in_range(child_path("pipeline", key), number_at(json, key), 1, most));
  };
  plan.stages = count("stages", kMostTasks);
  plan.microbatches = count("microbatches", kMostTasks);
  plan.schedule = from_word<PipelineSchedule>(json.at("schedule"), "schedule");
  plan.routing = from_word<MicrobatchRouting>(json.at("routing"), "routing");
  plan.backward = json.at("backward");
  plan.blocks = json.at("blocks");
  std::int64_t end = 0;
  for (const Json& entry : json.at("parts")) {
    const Json &layers = entry.at("layers"), &columns = entry.at("columns");
    plan.parts.push_back({layers.at(0), layers.at(1), {columns.at(0), columns.at(1)}, entry.at("share")});
    const PipelinePart& part = plan.parts.back();
    if (part.columns.begin != end || part.columns.end < end || !(part.share >= 0 && part.share <= 1))
      throw InputError("pipeline.parts", "found " + entry.dump(),
                       "parts one behind another, each with its share of the work");
    end = part.columns.end;
  }
  plan.forward_bytes = json.at("forward_bytes").get<std::vector<std::int64_t>>();
  plan.backward_bytes = json.at("backward_bytes").get<std::vector<std::int64_t>>();
  double together = 0;
  for (const auto* bytes_of_hop : {&plan.forward_bytes, &plan.backward_bytes})
    for (const std::int64_t bytes : *bytes_of_hop) {
      together += static_cast<double>(bytes) * plan.microbatches;
      if (bytes < 0 || bytes > 8 * kMostParameters)
        throw InputError("pipeline.forward_bytes", fmt::format("found {}", bytes),
                         fmt::format("0 to {} in either direction", 8 * kMostParameters));
    }
  if (together > 1e18)
    throw InputError("pipeline", fmt::format("found {:.6g} bytes a step", together), "at most 1e18");
  read_partial(json, plan);
  const std::size_t hops = plan.parts.size() - 1;
  if (plan.stages < 1 || plan.microbatches < 1 || plan.parts.empty() || end != parameters ||
      plan.part_count() % plan.stages != 0 || plan.parts.size() > kMostTasks / as_index(plan.microbatches) ||
      plan.forward_bytes.size() != hops || plan.backward_bytes.size() != hops)
    throw InputError(
        "pipeline", "found " + json.dump(),
        "stages with as many parts each, that have all columns together, and bytes for each hop");
  const bool has_chunks = plan.part_count() > plan.stages;
  if (has_chunks != (plan.schedule == PipelineSchedule::kInterleaved) ||
      (has_chunks && plan.microbatches % plan.stages != 0))
    throw InputError(
        "pipeline.schedule", "found " + json.at("schedule").dump(),
        "interleaved where a stage has several parts, with micro-batches in rounds of the stages");
  if (json.contains("by_bits")) plan.by_bits = by_bits_from(json["by_bits"], hops);
  return plan;
}

}  // namespace longhaul
