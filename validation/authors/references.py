"""Authors' public code, run as it is on one process a replica (torch.distributed, gloo).

Each class takes the folder of an unmodified checkout. `start` builds what the authors' training script builds,
on a model of matrices of 64 x 64; `round` takes one outer step, or one step of an optimizer of its own, and
returns its tables by the names of `longhaul-train outer-step`, each a row of all parameters. Inner steps are
given displacements of the weights, or gradients, so that nothing else is compared. Modules that a file imports
and does not need here (managers, launchers, loggers) are empty ones.
"""
import importlib.util
import sys
import types

import torch
import torch.distributed as dist

SHAPE = (64, 64)  # a tile of DeMo's transform, a chunk of SparseLoCo's


class Model(torch.nn.Module):
    def __init__(self, row):
        super().__init__()
        self.matrices = torch.nn.ParameterList(
            torch.nn.Parameter(part.reshape(SHAPE).clone()) for part in torch.from_numpy(row).split(SHAPE[0] * SHAPE[1]))


def flat(tensors):
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors]).numpy().copy()


def stub(name, **content):
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    return module


def load(folder, path, name):
    spec = importlib.util.spec_from_file_location(name, folder / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Reference:
    """gradients: whether a round is given gradients, or displacements of the weights."""
    gradients = False

    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def start(self, row):
        self.model = Model(row)
        self.parameters = list(self.model.parameters())

    def give(self, values):
        with torch.no_grad():
            for parameter, part in zip(self.parameters, torch.from_numpy(values).split(SHAPE[0] * SHAPE[1])):
                if self.gradients:
                    parameter.grad = part.reshape(SHAPE).clone()
                else:
                    parameter.add_(part.reshape(SHAPE))


class Noloco(Reference):
    path = "src/noloco/sparse_optimizer_c.py"

    def start(self, row):
        super().start(row)
        self.module = load(self.folder, self.path, "noloco_authors")
        self.optimizer = self.module.SparseOptimizerCBuilder(
            1, self.options["group"], lr=1e-3, outer_momentum=self.options["alpha"],
            outer_lr=self.options["beta"]).build(self.model, dist.group.WORLD)

    def round(self, step, values):
        self.give(values)
        self.optimizer.step()
        ranks = self.module.create_random_permutation(dist.get_world_size(), step)
        return {"theta": flat(self.parameters), "phi": flat(self.optimizer.step_params),
                "momentum": flat(self.optimizer.momentum)}, self.module.batched(ranks, self.options["group"])


class HeavyBall(Reference):
    path = "src/noloco/pipeline_diloco_optimizer.py"

    def start(self, row):
        super().start(row)
        module = load(self.folder, self.path, "diloco_authors")
        self.optimizer = module.PipelineDiLoCoOptimizerBuilder(
            1, lr=1e-3, outer_lr=self.options["outer_lr"], outer_momentum=self.options["outer_momentum"]).build(
                self.model, dist.group.WORLD, "cpu")

    def round(self, step, values):
        self.give(values)
        self.optimizer.step()
        return {"theta": flat(self.parameters), "phi": flat(self.optimizer.global_param),
                "momentum": flat(self.optimizer.global_momentum)}, None


class Torchft(Reference):
    """A fragment of Streaming DiLoCo; without delay and mixing it is DiLoCo. `values` are two displacements:
    before the all-reduce is posted, and until it has arrived."""
    path = "torchft/local_sgd.py"

    class Manager:
        def allreduce(self, tensor, should_quantize=False):
            dist.all_reduce(tensor)
            tensor /= dist.get_world_size()
            return types.SimpleNamespace(wait=lambda: None)

        def should_commit(self):
            return True

    def start(self, row):
        super().start(row)
        stub("torchft")
        stub("torchft.manager", Manager=object)
        module = load(self.folder, self.path, "torchft.local_sgd")
        self.outer = torch.optim.SGD(self.parameters, lr=self.options["outer_lr"],
                                     momentum=self.options["outer_momentum"], nesterov=True)
        inner = torch.optim.SGD(self.parameters, lr=0)
        self.fragment = module._StreamingDiLoCoFragment(
            self.Manager(), self.model, 0, 1, inner, self.outer, 1, pin_memory=False,
            fragment_update_alpha=self.options.get("mixing", 0.))
        self.fragment.save_parameters()

    def round(self, step, values):
        first, second = values.reshape(2, -1)
        self.give(first)
        posted = {"posted.theta": flat(self.parameters)}
        self.fragment.prepare_sync()
        self.give(second)
        self.fragment.perform_sync()
        # Torch's momentum is that of -Δ.
        momentum = -flat(self.outer.state[parameter]["momentum_buffer"] for parameter in self.parameters)
        return {"theta": flat(self.parameters), "phi": flat(self.fragment.original_parameters.values()),
                "momentum": momentum}, posted


class Demo(Reference):
    gradients = True
    path = "demo.py"

    def start(self, row):
        super().start(row)
        module = load(self.folder, self.path, "demo_authors")
        self.optimizer = module.DeMo(self.parameters, lr=self.options["lr"],
                                     compression_decay=self.options["feedback_decay"])

    def round(self, step, values):
        self.give(values)
        self.optimizer.step()
        return {"theta": flat(self.parameters),
                "error": flat(self.optimizer.demo_state[parameter]["delta"]
                              for parameter in self.parameters)}, None


class Dgc(Reference):
    """Without sampling and warm-up; horovod's calls over torch.distributed."""
    gradients = True
    path = "dgc/compression.py"

    def start(self, row):
        super().start(row)
        hvd = stub("horovod")
        hvd.torch = stub("horovod.torch", size=dist.get_world_size, rank=lambda: 1)
        stub("horovod.torch.mpi_ops", Average="average", allreduce_async_=None, synchronize=lambda handle: handle,
             allgather_async=lambda tensor, name: gathered(tensor))
        stub("dgc")
        memory = load(self.folder, "dgc/memory.py", "dgc.memory")
        module = load(self.folder, self.path, "dgc.compression")
        sgd = load_optimizer(self.folder / "dgc/optim/sgd.py")
        self.memory = memory.DGCSGDMemory(momentum=self.options["momentum"])
        named = [(str(i), parameter) for i, parameter in enumerate(self.parameters)]
        self.memory.initialize(named)
        self.compressor = module.DGCCompressor(self.options["ratio"], self.memory, sample_ratio=1.)
        self.compressor.initialize(named)
        self.optimizer = sgd(self.parameters, lr=self.options["lr"])

    def round(self, step, values):
        self.give(values)
        for i, parameter in enumerate(self.parameters):
            message, context = self.compressor.compress(parameter.grad, str(i))
            handles = self.compressor.communicate(message, str(i), "average")
            parameter.grad = self.compressor.decompress(self.compressor.synchronize(handles), context)
        self.optimizer.step()
        return {"theta": flat(self.parameters), "velocity": flat(self.memory.momentums.values()),
                "error": flat(self.memory.velocities.values())}, None


def gathered(tensor):
    parts = [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    return torch.cat(parts)


def load_optimizer(file):
    """DGC's optimizer imports a name that torch has dropped."""
    module = importlib.import_module("torch.optim.optimizer")
    module.required = getattr(module, "required", object())
    return load(file.parent, file.name, "dgc_sgd").DGCSGD


class OneBitAdam(Reference):
    """Its compressed stage alone, from moments that are given: `start` has the second one."""
    gradients = True
    path = "deepspeed/runtime/fp16/onebit/adam.py"

    class Packer:
        def packbits(self, values, size, rank):
            bits = (values >= 0).to(torch.uint8).reshape(-1, 8)
            return (bits << torch.arange(7, -1, -1)).sum(1).to(torch.uint8)

        def unpackbits(self, packed, size, rank):
            bits = (packed[:, None] >> torch.arange(7, -1, -1)) & 1
            return bits.reshape(-1).float() * 2 - 1

    def start(self, row):
        super().start(row)
        accelerator = types.SimpleNamespace(empty_cache=lambda: None, current_device_name=lambda: "cpu")
        for name in ("deepspeed", "deepspeed.runtime", "deepspeed.runtime.comm", "deepspeed.ops"):
            stub(name)
        stub("deepspeed.accelerator", get_accelerator=lambda: accelerator)
        stub("deepspeed.utils")
        stub("deepspeed.utils.torch", required_torch_version=lambda **_: True)
        stub("deepspeed.ops.op_builder", PackbitsBuilder=lambda: types.SimpleNamespace(load=self.Packer))
        stub("deepspeed.comm", is_initialized=dist.is_initialized, new_group=dist.new_group, get_rank=dist.get_rank,
             get_world_size=dist.get_world_size, all_gather=all_gather, all_to_all_single=all_to_all)
        load(self.folder, "deepspeed/runtime/comm/compressed.py", "deepspeed.runtime.comm.compressed")
        module = load(self.folder, self.path, "onebit_authors")
        launcher = types.SimpleNamespace(mpu=None, local_rank=0, enable_backward_allreduce=True)
        self.optimizer = module.OnebitAdam(self.parameters, launcher, lr=self.options["lr"], freeze_step=0,
                                           betas=self.options["betas"], comm_backend_name="compressed")
        self.optimizer.initialize = self.optimizer.adam_freeze_key = True
        for parameter in self.parameters:
            self.optimizer.state[parameter].update(
                step=0, exp_avg=torch.zeros(SHAPE), exp_avg_sq=torch.full(SHAPE, self.options["second_moment"]))

    def round(self, step, values):
        self.give(values)
        self.optimizer.step()
        state = [self.optimizer.state[parameter] for parameter in self.parameters]
        return {"theta": flat(self.parameters), "first_moment": flat(of["exp_avg"] for of in state),
                "error": flat(of["worker_error"] for of in state)}, None


def all_gather(parts, tensor, group=None):
    """gloo minds that one number is no vector of one."""
    dist.all_gather(parts, tensor.reshape(parts[0].shape))


def all_to_all(output, tensor, group=None):
    """gloo has none."""
    parts = [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    output.copy_(torch.stack([part[dist.get_rank()] for part in parts]))


class Sparseloco(Reference):
    """Its compressor and the mean over who sent a number; the two lines of error feedback and of the step are
    those of prepare_gradient_dict and outer_step (src/tplr/neurons.py), without its clip to the median norm."""
    path = "src/tplr/compress.py"

    def start(self, row):
        super().start(row)
        stub("tplr")
        module = load(self.folder, self.path, "tplr.compress")
        bins = self.options["bins"]
        self.compressor = module.TopKCompressor(use_quantization=bins > 0, quantization_bins=bins)
        self.transformer = module.ChunkingTransformer(self.model, SHAPE[0])
        self.slow = [parameter.detach().clone() for parameter in self.parameters]
        self.error = [torch.zeros(SHAPE) for _ in self.parameters]
        self.optimizer = torch.optim.SGD(self.parameters, lr=self.options["outer_lr"])

    @torch.no_grad()
    def round(self, step, values):
        self.give(values)
        for parameter, slow, error in zip(self.parameters, self.slow, self.error):
            error.mul_(self.options["feedback_decay"]).add_(slow - parameter)
            message = self.compressor.compress(self.transformer.encode(error), self.options["k"])
            indices, sent, shape, total, *quantized = message
            error.sub_(self.transformer.decode(
                self.compressor.decompress(parameter, indices, sent, shape, total, *quantized)))
            messages = [None] * dist.get_world_size()
            dist.all_gather_object(messages, message)
            mean = self.compressor.batch_decompress(
                parameter, [one[0] for one in messages], [one[1] for one in messages], shape, total,
                [one[4] for one in messages] if quantized else None, clip_norm=False)
            parameter.copy_(slow)
            parameter.grad = self.transformer.decode(mean)
        self.optimizer.step()
        for parameter, slow in zip(self.parameters, self.slow):
            slow.copy_(parameter)
        return {"theta": flat(self.parameters), "phi": flat(self.slow),
                "error": -flat(self.error)}, None  # theirs is of -Δ


CLASSES = {one.__name__: one for one in (Noloco, HeavyBall, Torchft, Demo, Dgc, OneBitAdam, Sparseloco)}


def run(rank, replicas, meeting, name, folder, options, start, given, results):
    """One replica: all rounds, as (tables, whatever the round was made with)."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=replicas)
    reference = CLASSES[name](folder, options)
    reference.start(start)
    results[rank] = [reference.round(step + 1, values) for step, values in enumerate(given[rank])]
    dist.destroy_process_group()
