#include "core/scenario/pipeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr const char* kLearned = "learned";

// A word for all hops, or a list of formats.
Node boundary_option(const char* key, const std::vector<std::string>& words, const char* meaning) {
  std::vector<std::string> of_all = words, of_one = words_of<Quantizer>();
  of_all.insert(of_all.end(), of_one.begin(), of_one.end());
  of_one.insert(of_one.begin(), "wire");
  return either(key, {choice("", of_all), list_of("", choice("", of_one)).not_empty()})
      .by_default(words.front())
      .means(meaning);
}

Node learned_bits_option() {
  return section("learned_bits",
                 {integer("floor")
                      .at_least(kFewestWholeBits)
                      .at_most(kMostWholeBits)
                      .by_default(2)
                      .in("bits")
                      .means("fewest bits of a number"),
                  integer("ceiling")
                      .at_least(kFewestWholeBits)
                      .at_most(kMostWholeBits)
                      .by_default(8)
                      .in("bits")
                      .means("most bits"),
                  number("penalty").at_least(0).by_default(0.01).in("nats").means(
                      "β: the loss gets β times the mean over hops of the square of σ(q)"),
                  number("lr").at_least(0).by_default(0.02).means(
                      "learning rate of the gates (Adam, without warm-up or decay); 0: they stay"),
                  number("gate").at_least(-20).at_most(20).by_default(2.5).means(
                      "q before the first step: 2.5 is eleven twelfths of the way from floor to ceiling"),
                  integer("first_step").at_least(1).by_default(1).means("step at which gates begin to move")})
      .means(
          "with activations \"learned\": bits = floor + (ceiling − floor) σ(q), rounded, with a gate q for "
          "each hop of each replica (AMAQ, arXiv 2510.05468)");
}

Node schedule_option() {
  return choice("schedule", words_of<PipelineSchedule>())
      .by_default("1f1b")
      .timing_only()
      .means(
          "order in which a worker takes its passes. gpipe: all forward, then all backward; 1f1b: a "
          "backward pass after each forward pass as soon as there is one; interleaved: the same with "
          "`chunks` parts of the model on each worker");
}

Node routing_option() {
  return choice("routing", words_of<MicrobatchRouting>())
      .by_default("straight")
      .means(
          "straight: a micro-batch stays in its replica; random: at each hop a fresh permutation of the "
          "replicas says who gets whose micro-batch (NoLoCo, 2506.10911); throughput: to the worker of the "
          "next stage that is fastest by what the sender has measured, in the order of arrival (SWARM, "
          "2301.11913)");
}

std::vector<Node> keys() {
  return {
      integer("stages").at_least(1).at_most(1024).by_default(1).means(
          "parts of the model, one behind another, each on a worker of its own; the network then joins "
          "replicas · stages workers, and worker r · stages + s is stage s of replica r"),
      integer("microbatches")
          .at_least(1)
          .at_most(4096)
          .by_default(1)
          .means("equal parts of a replica's batch, which go through the stages one behind another"),
      schedule_option(),
      integer("chunks").at_least(1).at_most(64).by_default(1).means(
          "with schedule interleaved: parts of the model on each worker, 2 or more"),
      routing_option(),
      integer("skip").at_least(0).at_most(1022).by_default(0).later().in("parts").means(
          "parts between the first and the last that each micro-batch leaves out (SkipPipe, arXiv "
          "2502.19913)"),
      boolean("reorder").by_default(false).later().means(
          "whether a micro-batch may take two neighbouring parts, of as many layers, in the other order"),
      choice("paths", words_of<PartialPaths>())
          .by_default("scheduled")
          .later()
          .means("with skip or reorder. scheduled: planned so that few micro-batches reach a worker together "
                 "and parts have as much to do, the same at each step; random: drawn for each"),
      either("cut", {choice("", words_of<PipelineCut>()), list_of("", integer("").at_least(0)).not_empty()})
          .by_default("layers")
          .means(
              "layers: parts of as many layers, the first ones one more; cost: of as much work, the output "
              "layer included; a list: layers of each part"),
      number("backward")
          .above(0)
          .by_default(2)
          .timing_only()
          .means("a backward pass takes so many times as long as a forward pass"),
      choice("sends", {"overlapped", "blocking"})
          .by_default("overlapped")
          .timing_only()
          .means("overlapped: messages between stages travel beside the compute; blocking: a worker computes "
                 "nothing while one that it sends or needs next is under way (Megatron-LM's default)"),
      integer("rebalance_every")
          .at_least(1)
          .timing_only()
          .in("steps")
          .means("with routing throughput: after every so many steps a worker may move from the least loaded "
                 "stage to the most loaded one (SWARM, section 3.3); without this key none does"),
      number("state_bytes")
          .above(0)
          .timing_only()
          .in("bytes")
          .means("with rebalance_every: what a worker that moves downloads for each parameter of its new "
                 "stage; default 12: weights and AdamW's two moments in float32"),
      boundary_option(
          "activations", {"wire", kLearned},
          "what passes forward between stages: wire: in the numbers of workload.wire; learned: in "
          "so many bits as learned_bits comes to; else quantized in blocks of `block`, in the "
          "training too. A list: a format for each hop, from the first part on"),
      boundary_option("gradients", {"as-activations", "wire"},
                      "the same of what passes back; a list is in the order of the hops too"),
      learned_bits_option(),
      integer("block").at_least(1).by_default(1024).in("numbers").means(
          "numbers that share a scale, where activations or gradients are quantized"),
      integer("subspace")
          .at_least(1)
          .in("coordinates")
          .means("all parts but the last add to the residual stream in a fixed subspace of so many "
                 "dimensions alone: that many coordinates of a token pass each way, and its id forward "
                 "(Protocol Models, arXiv 2506.01260)"),
      number("bytes_per_token")
          .above(0)
          .timing_only()
          .in("bytes")
          .means("what a token takes at each hop and each way, whatever the model; without it hidden numbers "
                 "in the format of activations and gradients"),
  };
}

// None: as the wire says, or by another word.
std::optional<Quantized> quantized(const std::string& name, int block) {
  for (const QuantizerFacts& known : Words<Quantizer>::all)
    if (name == known.word) return Quantized{known.value, block};
  return std::nullopt;
}

// `parts` of the model have one hop less.
HopFormats hop_formats(const Json& json, int block, int parts, const char* key) {
  if (json.is_string()) {
    if (const auto of_all = quantized(json, block)) return *of_all;
    return std::nullopt;
  }
  if (static_cast<int>(json.size()) != parts - 1)
    throw InputError(fmt::format("pipeline.{}", key), fmt::format("found a list of {} formats", json.size()),
                     parts == 1
                         ? "a word: one part has no hops"
                         : fmt::format("a list of {}, one for each hop between {} parts", parts - 1, parts),
                     "or one word for all hops");
  std::vector<std::optional<Quantized>> by_hop;
  for (const Json& entry : json) by_hop.push_back(quantized(entry, block));
  return HopFormats(std::move(by_hop));
}

LearnedBits parse_learned(const Json& json) {
  LearnedBits learned;
  learned.floor = json.at("floor");
  learned.ceiling = json.at("ceiling");
  learned.penalty = json.at("penalty");
  learned.lr = json.at("lr");
  learned.gate = json.at("gate");
  learned.first_step = json.at("first_step");
  if (learned.floor > learned.ceiling)
    throw InputError("pipeline.learned_bits.floor",
                     fmt::format("found {} with ceiling {}", learned.floor, learned.ceiling),
                     fmt::format("at most {}", learned.ceiling));
  return learned;
}

BoundarySpec parse_boundary(const Json& json, int parts) {
  BoundarySpec boundary;
  const int block = json.at("block");
  const Json &forward = json.at("activations"), &back = json.at("gradients");
  const bool is_learned = forward == kLearned, as_activations = back == "as-activations";
  if (json.contains("learned_bits") != is_learned)
    throw InputError("pipeline.learned_bits", "found beside activations " + forward.dump(),
                     "activations \"learned\", or no such section");
  boundary.activations = hop_formats(forward, block, parts, "activations");
  boundary.gradients = as_activations ? boundary.activations : hop_formats(back, block, parts, "gradients");
  if (is_learned) {
    boundary.learned = parse_learned(json.at("learned_bits"));
    boundary.learned->block = block;
    boundary.learned->gradients = as_activations;
  }
  boundary.subspace = json.value("subspace", 0);
  boundary.bytes_per_token = json.value("bytes_per_token", 0.);
  if (boundary.subspace > 0 && (is_learned || boundary.activations.any() || boundary.gradients.any()))
    throw InputError("pipeline.subspace", "found beside quantized activations or gradients", "one of them",
                     "coordinates travel in the numbers of workload.wire");
  if (is_learned && boundary.bytes_per_token > 0)
    throw InputError("pipeline.bytes_per_token", "found beside activations \"learned\"", "one of them",
                     "the bytes of learned bits follow from the training");
  return boundary;
}

void parse_cut(const Json& cut, PipelineSpec& spec) {
  if (cut.is_string()) {
    spec.cut = from_word<PipelineCut>(cut, "pipeline.cut");
    return;
  }
  spec.cut = PipelineCut::kGiven;
  spec.layers = cut.get<std::vector<int>>();
  if (static_cast<int>(spec.layers.size()) != spec.parts())
    throw InputError("pipeline.cut", fmt::format("found the layers of {} parts", spec.layers.size()),
                     fmt::format("those of {} parts ({} stages of {})", spec.parts(), spec.stages,
                                 spec.chunks == 1 ? "one part" : fmt::format("{} chunks", spec.chunks)));
}

void check_interleaved(const PipelineSpec& spec, const std::string& schedule) {
  const bool is_interleaved = spec.schedule == PipelineSchedule::kInterleaved;
  if (is_interleaved != (spec.chunks > 1))
    throw InputError("pipeline.chunks", fmt::format("found {} with schedule \"{}\"", spec.chunks, schedule),
                     is_interleaved ? "at least 2" : "1", "only an interleaved schedule has several chunks");
  if (is_interleaved && spec.microbatches % spec.stages != 0)
    throw InputError(
        "pipeline.microbatches",
        fmt::format("found {} with schedule \"interleaved\" on {} stages", spec.microbatches, spec.stages),
        fmt::format("a multiple of {}", spec.stages),
        "chunks are changed after as many micro-batches as there are stages");
}

// Workers then take passes as they come, in no order of a schedule.
void check_without_order(const PipelineSpec& spec) {
  const bool is_by_throughput = spec.routing == MicrobatchRouting::kThroughput;
  const std::string found = is_by_throughput ? "\"throughput\""
                            : spec.skip > 0  ? fmt::format("{}", spec.skip)
                                             : "true";
  const char* key = is_by_throughput ? "routing" : spec.skip > 0 ? "skip" : "reorder";
  if (!is_by_throughput && !spec.is_partial()) return;
  if (spec.blocks || spec.chunks > 1)
    throw InputError(fmt::format("pipeline.{}", key),
                     fmt::format("found {} with {}", found, spec.blocks ? "blocking sends" : "chunks"),
                     "sends \"overlapped\" and one part of the model on each worker",
                     "a worker then takes passes as they come, in no order of a schedule");
  if (is_by_throughput && spec.is_partial())
    throw InputError("pipeline.routing", "found \"throughput\" with skip or reorder",
                     "\"straight\" or \"random\"", "paths that leave parts out are planned before a step");
  const BoundarySpec& boundary = spec.boundary;
  if (spec.is_partial() &&
      (boundary.learned || boundary.activations.is_list() || boundary.gradients.is_list()))
    throw InputError(fmt::format("pipeline.{}", key), "found beside a format for each hop",
                     "one format for all hops", "a hop may then begin at any part");
  if (spec.skip > 0 && spec.skip > spec.parts() - 2)
    throw InputError("pipeline.skip", fmt::format("found {} with {} stages", spec.skip, spec.stages),
                     fmt::format("at most {}", std::max(0, spec.parts() - 2)),
                     "the first and the last part are never left out");
}

}  // namespace

const std::optional<Quantized>& HopFormats::at(int hop) const {
  static const std::optional<Quantized> none;
  if (formats_.empty()) return none;
  return formats_.size() == 1 ? formats_.front() : formats_.at(as_index(hop));
}

bool HopFormats::any() const {
  return std::any_of(formats_.begin(), formats_.end(), [](const auto& item) { return item.has_value(); });
}

Node pipeline_options() {
  return section("pipeline", keys())
      .means("the model in stages on several workers; without it one worker a replica");
}

Node method_pipeline_options() {
  std::vector<Node> same = keys();
  for (Node& key : same) key.fallback = Json();
  return section("pipeline", std::move(same))
      .means("keys of the scenario's pipeline that differ for this method");
}

Json with_effective_pipeline(Json resolved) {
  Json& method = resolved.at("method");
  const Json own = member(method, "pipeline");
  method.erase("pipeline");
  if (own.is_null() && !resolved.contains("pipeline")) return resolved;
  Json written = resolved.value("pipeline", Json::object());
  if (!own.is_null())
    for (const auto& [key, value] : own.items()) written[key] = value;
  // A case says all that its training depends on.
  if (written.value("activations", Json()) == kLearned && !written.contains("learned_bits"))
    written["learned_bits"] = Json::object();
  resolved["pipeline"] = resolve(pipeline_options(), written, "pipeline");
  return resolved;
}

PipelineSpec parse_pipeline(const Json& resolved) {
  PipelineSpec spec;
  const Json json = member(resolved, "pipeline");
  if (json.is_null()) return spec;
  spec.stages = json.at("stages");
  spec.microbatches = json.at("microbatches");
  const std::string schedule = json.at("schedule");
  spec.schedule = from_word<PipelineSchedule>(schedule, "pipeline.schedule");
  spec.chunks = json.at("chunks");
  const std::string routing = json.at("routing");
  spec.routing = from_word<MicrobatchRouting>(routing, "pipeline.routing");
  spec.skip = json.value("skip", 0);
  spec.reorders = json.value("reorder", false);
  spec.partial = from_word<PartialPaths>(json.value("paths", word_of(spec.partial)), "pipeline.paths");
  parse_cut(json.at("cut"), spec);
  spec.backward = json.at("backward");
  spec.blocks = json.at("sends") == "blocking";
  spec.rebalance_every = json.value("rebalance_every", 0);
  spec.state_bytes = json.value("state_bytes", spec.state_bytes);
  spec.boundary = parse_boundary(json, spec.parts());
  check_interleaved(spec, schedule);
  check_without_order(spec);
  if (spec.boundary.learned && spec.routing != MicrobatchRouting::kStraight)
    throw InputError("pipeline.routing", fmt::format("found \"{}\" beside activations \"learned\"", routing),
                     "\"straight\"", "a gate is of one worker and the one that it always sends to");
  if (spec.rebalance_every > 0 && spec.routing != MicrobatchRouting::kThroughput)
    throw InputError("pipeline.rebalance_every",
                     fmt::format("found {} with routing \"{}\"", spec.rebalance_every, routing),
                     "routing \"throughput\"", "else each replica has its own worker of each stage");
  if (json.contains("state_bytes") && spec.rebalance_every == 0)
    throw InputError("pipeline.state_bytes", "found without pipeline.rebalance_every",
                     "both keys, or neither", "it is what a worker that moves downloads");
  return spec;
}

}  // namespace longhaul
