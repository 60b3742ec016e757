#include "core/plan/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/errors.h"
#include "core/index.h"
#include "core/random.h"

namespace longhaul {
namespace {

// In the order of their enumerations.
constexpr const char* kSchedules[] = {"gpipe", "1f1b", "interleaved"};
constexpr const char* kRoutings[] = {"straight", "random", "throughput"};

template <std::size_t kCount>
int place_of(const std::string& word, const char* const (&words)[kCount], const char* key) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (word == words[i]) return static_cast<int>(i);
  throw InputError(key, fmt::format("found \"{}\"", word), "a word of docs/formats.md");
}

// Floating-point operations of a forward pass of one token: two for each weight of a matrix, and attention
// over the half of the context that a token sees on average. An embedding is looked up.
double layer_work(const ModelShape& shape) {
  const double h = shape.hidden, ffn = shape.ffn, context = shape.context;
  return 2 * (4 * h * h + 3 * h * ffn) + 2 * h * context;
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
  std::vector<PipelinePart> parts;
  for (int part = 0; part < count; ++part)
    parts.push_back({0, 0, {part * parameters / count, (part + 1) * parameters / count}, 1. / count});
  return parts;
}

std::int64_t hop_bytes(const BoundarySpec& boundary, const std::optional<Quantized>& codec,
                       const std::optional<ModelShape>& shape, std::int64_t tokens, Wire wire) {
  if (boundary.bytes_per_token > 0)
    return std::llround(boundary.bytes_per_token * static_cast<double>(tokens));
  if (!shape)
    throw InputError("pipeline.bytes_per_token", "this key is missing", "a number above 0",
                     "workload.parameters does not say how wide the model is; or give workload.model");
  if (boundary.subspace > shape->hidden)
    throw InputError("pipeline.subspace", fmt::format("found {}", boundary.subspace),
                     fmt::format("at most {}, the model's hidden", shape->hidden));
  const int width = boundary.subspace > 0 ? boundary.subspace : shape->hidden;
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

std::vector<PipelineTask> all_then_all(const PipelinePlan& plan, int stage) {
  std::vector<PipelineTask> tasks;
  for (const bool is_forward : {true, false})
    for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch)
      tasks.push_back({is_forward, stage, microbatch});
  return tasks;
}

// `warm_up` forward passes, then one forward and one backward in turn, then the backward passes that are
// left. forward(k) and backward(k) are the k-th of each.
template <typename Forward, typename Backward>
std::vector<PipelineTask> in_turn(int count, int warm_up, const Forward& forward, const Backward& backward) {
  std::vector<PipelineTask> tasks;
  warm_up = std::min(warm_up, count);
  for (int k = 0; k < warm_up; ++k) tasks.push_back(forward(k));
  for (int k = 0; k + warm_up < count; ++k) {
    tasks.push_back(forward(k + warm_up));
    tasks.push_back(backward(k));
  }
  for (int k = count - warm_up; k < count; ++k) tasks.push_back(backward(k));
  return tasks;
}

PipelinePlan::BytesByBits by_bits_from(const Json& json, std::size_t hops) {
  using Tables = std::vector<std::vector<std::int64_t>>;
  PipelinePlan::BytesByBits by_bits;
  by_bits.fewest = json.at("fewest");
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
  for (const auto* hops : {&forward_bytes, &backward_bytes})
    for (const std::int64_t of_one : *hops) bytes += microbatches * of_one;
  return bytes;
}

Columns PipelinePlan::columns_of(int stage) const {
  Columns columns;
  for (int part = stage; part < part_count(); part += stages)
    if (const ColumnRange& range = parts[as_index(part)].columns; range.size() > 0) {
      if (!columns.empty() && columns.back().end == range.begin)
        columns.back().end = range.end;
      else
        columns.push_back(range);
    }
  return columns;
}

double PipelinePlan::share_of(int stage) const {
  double share = 0;
  for (int part = stage; part < part_count(); part += stages) share += parts[as_index(part)].share;
  return share;
}

// Of a worker's messages in a step each has a number below 2^20 (MessageKey).
constexpr std::int64_t kMostTasks = 1 << 18;

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
  if (!boundary.learned || plan.hop_count() == 0) return plan;
  const LearnedBits& learned = *boundary.learned;
  plan.by_bits.emplace();
  plan.by_bits->fewest = learned.floor;
  for (int bits = learned.floor; bits <= learned.ceiling; ++bits) {
    plan.forward_bytes.assign(as_index(plan.hop_count()), bytes(learned.format_of(bits)));
    if (learned.gradients) plan.backward_bytes = plan.forward_bytes;
    plan.by_bits->forward.push_back(plan.forward_bytes);
    plan.by_bits->backward.push_back(plan.backward_bytes);
  }
  return plan;
}

std::vector<PipelineTask> tasks_of_stage(const PipelinePlan& plan, int stage) {
  const int stages = plan.stages, microbatches = plan.microbatches, chunks = plan.part_count() / stages;
  if (plan.schedule == PipelineSchedule::kGpipe) return all_then_all(plan, stage);
  if (plan.schedule == PipelineSchedule::k1f1b)
    return in_turn(
        microbatches, stages - stage - 1,
        [&](int k) {
          return PipelineTask{true, stage, k};
        },
        [&](int k) {
          return PipelineTask{false, stage, k};
        });
  // As many micro-batches as there are stages through one chunk, then the same through the next one.
  const auto chunk_of = [&](int k) { return k % (stages * chunks) / stages; };
  const auto microbatch_of = [&](int k) { return k / (stages * chunks) * stages + k % stages; };
  return in_turn(
      microbatches * chunks, 2 * (stages - stage - 1) + (chunks - 1) * stages,
      [&](int k) {
        return PipelineTask{true, chunk_of(k) * stages + stage, microbatch_of(k)};
      },
      [&](int k) {
        return PipelineTask{false, (chunks - 1 - chunk_of(k)) * stages + stage, microbatch_of(k)};
      });
}

std::vector<std::vector<int>> paths_of(const PipelinePlan& plan, std::uint64_t seed, int replicas, int step,
                                       int microbatch) {
  std::vector<std::vector<int>> paths(as_index(replicas));
  for (int home = 0; home < replicas; ++home) paths[as_index(home)].assign(as_index(plan.part_count()), home);
  if (plan.routing != MicrobatchRouting::kRandom) return paths;
  for (int part = 0; part + 1 < plan.part_count(); ++part) {
    RandomStream stream(seed, Purpose::kRoutes, static_cast<std::uint32_t>(microbatch),
                        static_cast<std::uint32_t>(step), static_cast<std::uint16_t>(part));
    const std::vector<int> next = random_permutation(replicas, stream);
    for (std::vector<int>& path : paths) path[as_index(part) + 1] = next[as_index(path[as_index(part)])];
  }
  return paths;
}

Json to_json(const PipelinePlan& plan) {
  Json json = {{"stages", plan.stages},
               {"microbatches", plan.microbatches},
               {"schedule", kSchedules[static_cast<int>(plan.schedule)]},
               {"routing", kRoutings[static_cast<int>(plan.routing)]},
               {"backward", plan.backward},
               {"blocks", plan.blocks},
               {"parts", Json::array()},
               {"forward_bytes", plan.forward_bytes},
               {"backward_bytes", plan.backward_bytes}};
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

PipelinePlan pipeline_from(const Json& json, std::int64_t parameters) {
  PipelinePlan plan;
  plan.stages = json.at("stages");
  plan.microbatches = json.at("microbatches");
  plan.schedule = static_cast<PipelineSchedule>(place_of(json.at("schedule"), kSchedules, "schedule"));
  plan.routing = static_cast<MicrobatchRouting>(place_of(json.at("routing"), kRoutings, "routing"));
  plan.backward = json.at("backward");
  plan.blocks = json.at("blocks");
  std::int64_t end = 0;
  for (const Json& one : json.at("parts")) {
    const Json &layers = one.at("layers"), &columns = one.at("columns");
    plan.parts.push_back({layers.at(0), layers.at(1), {columns.at(0), columns.at(1)}, one.at("share")});
    const PipelinePart& part = plan.parts.back();
    if (part.columns.begin != end || part.columns.end < end || part.share < 0)
      throw InputError("pipeline.parts", "found " + one.dump(),
                       "parts one behind another, each with its share of the work");
    end = part.columns.end;
  }
  plan.forward_bytes = json.at("forward_bytes").get<std::vector<std::int64_t>>();
  plan.backward_bytes = json.at("backward_bytes").get<std::vector<std::int64_t>>();
  const std::size_t hops = plan.parts.size() - 1;
  if (plan.stages < 1 || plan.microbatches < 1 || plan.parts.empty() || end != parameters ||
      plan.part_count() % plan.stages != 0 || plan.forward_bytes.size() != hops ||
      plan.backward_bytes.size() != hops)
    throw InputError(
        "pipeline", "found " + json.dump(),
        "stages with as many parts each, that have all columns together, and bytes for each hop");
  if (json.contains("by_bits")) plan.by_bits = by_bits_from(json["by_bits"], hops);
  return plan;
}

}  // namespace longhaul
