"""torch_xla's XlaFullyShardedDataParallel: each core has a part of every parameter. A module's forward pass gathers
them whole, its backward pass gathers them again and gives each core its part of the averaged gradients."""
import contextlib
import functools

import torch

from trnsim.torch import _collectives as between
from trnsim.torch._checkpoint import barrier
from trnsim.torch._engine import engine
from trnsim.torch._newer import only
from trnsim.torch._tensor import DEVICE, DeviceTensor, from_host, wrapped
from trnsim.torch._wrap import recursive_wrap
from trnsim.torch._xla import mapped, mark_step
from trnsim.torch._zero import parts, row_of

WRAPPED, SHARD, SEPARATOR = "_fsdp_wrapped_module", "_fsdp_shard", "_FSDP_SHARD_SEPARATOR_"
# Arguments that change when and in which packages tensors travel, not their values.
TRAVEL = ("optimization_barrier_in_forward", "optimization_barrier_in_backward", "disable_reshard_on_root",
          "pin_layout_in_collective_ops", "coalesce_all_gather_ops", "reduce_scatter_bucket_size_mb",
          "all_gather_bucket_size_mb", "execute_sharding_on_init", "_use_xla_patched_linear", "sharding_rank",
          "sharding_world_size", "_debug_dummy_forward_pass", "_debug_msg", "_debug_print", "_shard_size_multiple")
VALUES = ("reshard_after_forward", "flatten_parameters", "mark_step_on_finalization", "compute_dtype", "buffer_dtype",
          "fp32_reduce_scatter", "sharding_groups", "shard_param_on_dim_0")
RUNNING = []  # wrappers whose forward pass is going on, the outermost first


class Sharded:
    """A parameter, or several as one vector. `places`: where it is, as [(module, name)] of each."""

    def __init__(self, places, by_rows):
        self.places, self.by_rows = places, by_rows
        self.shapes = [getattr(*where[0]).shape for where in places]
        self.name = None

    def part(self, owner):
        """The part that this core keeps."""
        wholes = [getattr(*where[0]).detach() for where in self.places]
        if self.by_rows:
            own = parts(wholes[0], owner.cores).index_select(0, owner.mine)[0]
        else:
            flat = torch.cat([whole.reshape(-1) for whole in wholes])
            own = parts(flat, owner.cores).index_select(0, owner.mine)[0]
        return torch.nn.Parameter(own.clone(), getattr(*self.places[0][0]).requires_grad)

    def split(self, gathered):
        """Whole parameters, of all cores' parts."""
        if self.by_rows:
            shape = self.shapes[0]
            return [gathered[:shape[0]] if shape else gathered[0]]
        sizes = [shape.numel() for shape in self.shapes]
        flat = gathered[:sum(sizes)].split(sizes)
        return [piece.view(shape) for piece, shape in zip(flat, self.shapes)]


class Gathered(torch.autograd.Function):
    """All cores' parts of parameters; of the gradients this core's part, averaged. `behind`: a gradient that is there
    before they are gathered."""

    @staticmethod
    def forward(ctx, owner, behind, *shards):
        ctx.owner, ctx.dtypes = owner, [shard.dtype for shard in shards]
        here = [shard.detach() for shard in shards]
        if behind is not None:
            here = barrier([*here, behind])[:-1]
        return tuple(between.all_gathered(owner.cast(shard), 0, owner.groups) for shard in here)

    @staticmethod
    def backward(ctx, *gradients):
        owner, out = ctx.owner, []
        for gradient, dtype in zip(gradients, ctx.dtypes):
            if gradient is not None:
                wide = gradient.to(torch.float32) if owner.reduces_wide else gradient
                gradient = (between.reduce_scattered(wide, "sum", 0, owner.groups) / owner.cores).to(dtype)
            out.append(gradient)
        return (None, None, *out)


class XlaFullyShardedDataParallel(torch.nn.Module):
    def __init__(self, module, *positional, auto_wrap_policy=None, auto_wrapper_callable=None, param_init_fn=None,
                 **options):
        super().__init__()
        options.update(zip(("reshard_after_forward", "flatten_parameters"), positional))
        only(options, TRAVEL + VALUES, "XlaFullyShardedDataParallel")
        if len(positional) > 2:
            raise TypeError("XlaFullyShardedDataParallel: pass the arguments after flatten_parameters by name")
        if param_init_fn is not None:
            raise NotImplementedError("XlaFullyShardedDataParallel: param_init_fn is not supported: create the "
                                      "module's parameters in its constructor")
        if isinstance(module, XlaFullyShardedDataParallel):
            raise RuntimeError("Cannot wrap a module that is already wrapped with FSDP")
        if auto_wrap_policy is not None:
            recursive_wrap(module, auto_wrap_policy, auto_wrapper_callable or XlaFullyShardedDataParallel, set(), set(),
                           only_wrap_children=True, **options)
        self._take(options)
        setattr(self, WRAPPED, module.to(DEVICE))
        self._shard()

    def _take(self, options):
        self.reshards = options.get("reshard_after_forward", True)
        self.flattens, self.by_rows = options.get("flatten_parameters", False), options.get("shard_param_on_dim_0",
                                                                                            False)
        self.compute_dtype, self.buffer_dtype = options.get("compute_dtype"), options.get("buffer_dtype")
        self.reduces_wide, self.groups = options.get("fp32_reduce_scatter", False), options.get("sharding_groups")
        self.marks = options.get("mark_step_on_finalization", False)
        row = row_of(self.groups) if self.groups else list(range(engine().ranks))
        self.cores, self.rank = len(row), row.index(engine().rank)
        self.world_size, self.mine = self.cores, from_host(torch.tensor([self.rank]))
        self._again, self._known = None, {}  # parameters of the backward pass; storages of the forward pass's

    def cast(self, tensor):
        floats = tensor.dtype.is_floating_point and self.compute_dtype is not None
        return tensor.to(self.compute_dtype) if floats else tensor

    def _owned(self):
        """Parameters below that no inner wrapper has, each with all its places."""
        inner = {id(m) for w in self.module.modules() if isinstance(w, XlaFullyShardedDataParallel)
                 for m in w.modules()}
        found = {}
        for name, module in self.module.named_modules():
            if id(module) not in inner:
                for own, parameter in module._parameters.items():
                    if parameter is not None:
                        full = f"{name}.{own}" if name else own
                        names, _, places = found.setdefault(id(parameter), ([], parameter, []))
                        names.append(full)
                        places.append((module, own))
        return list(found.values())

    def _shard(self):
        owned = self._owned()
        groups = [[one] for one in owned]
        if self.flattens:
            groups = [[one for one in owned if one[1].requires_grad is trained] for trained in (True, False)]
        self._sharded, self._names = [], {}
        for number, group in enumerate(g for g in groups if g):
            one = Sharded([places for _, _, places in group], self.by_rows and not self.flattens)
            name = group[0][0][0] if not self.flattens else f"flat_param_{number}"
            one.name = f"{SHARD}.{name}".replace(".", SEPARATOR)
            self._names[one.name] = [names for names, _, _ in group]  # several of tied ones
            self._sharded.append(one)
            self.register_parameter(one.name, one.part(self))
        for _, _, places in owned:
            for module, own in places:
                del module._parameters[own]
        for module in self.module.modules():
            for own, buffer in module._buffers.items():
                if buffer is not None and self.buffer_dtype is not None and buffer.dtype.is_floating_point:
                    module._buffers[own] = buffer.to(self.buffer_dtype)

    @property
    def module(self):
        return getattr(self, WRAPPED)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(WRAPPED), name)

    def __getitem__(self, key):
        return self.module[key]

    def _gather(self, behind=None):
        """Whole parameters where the module looks for them."""
        gathered = Gathered.apply(self, behind, *[getattr(self, one.name) for one in self._sharded])
        self._place(gathered)
        return gathered

    def _place(self, gathered):
        for one, tensor in zip(self._sharded, gathered):
            for whole, places in zip(one.split(tensor), one.places):
                for module, own in places:
                    object.__setattr__(module, own, whole)

    def _free(self):
        for one in self._sharded:
            for places in one.places:
                for module, own in places:
                    module.__dict__.pop(own, None)

    def forward(self, *args, **kwargs):
        outermost = not RUNNING
        if self.compute_dtype is not None:
            args, kwargs = (mapped(x, self.cast) for x in (args, kwargs))
        gathered = self._gather() if self._sharded else ()
        again = self.reshards and not outermost and torch.is_grad_enabled()
        self._known = {id(t._base_storage): i for i, t in enumerate(gathered)} if again else {}
        RUNNING.append(self)
        try:
            with self._resharded(gathered) if again else contextlib.nullcontext():
                out = self.module(*args, **kwargs)
        finally:
            RUNNING.pop()
            self._free()
        begin = functools.partial(self._begin, None if again else gathered)
        mapped(out, lambda t: t.register_hook(begin) if isinstance(t, DeviceTensor) and t.requires_grad else None)
        return out

    def _resharded(self, gathered):
        """Autograd keeps of whole parameters their places, and finds them there when they are gathered again."""
        def pack(tensor):
            place = self._known.get(id(getattr(tensor, "_base_storage", None)))
            return tensor if place is None or not gathered else (place, tensor._chain, tensor._meta)

        def unpack(kept):
            if isinstance(kept, torch.Tensor):
                return kept
            if self._again is None:
                self._begin(None, None)
            place, chain, meta = kept
            return wrapped(self._again[place]._base_storage, chain, meta)
        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def _begin(self, kept, gradient):
        """Before the module's backward pass, with the parameters that it has kept or with none."""
        if self._again is None:
            with torch.enable_grad():  # a checkpoint's values are computed again with their parts of the graph
                if kept is not None:
                    self._place(kept)
                else:
                    kept = self._gather(None if gradient is None else gradient.detach())
            self._again = kept
            torch.autograd.Variable._execution_engine.queue_callback(self._end)

    def _end(self):
        self._again = None
        self._free()
        if self.marks:
            mark_step()

    def get_shard_metadata(self):
        found = {}
        for prefix, module in self.named_modules():
            if isinstance(module, XlaFullyShardedDataParallel):
                for one in module._sharded:
                    base = ".".join(x for x in prefix.split(".") if x and x != WRAPPED)
                    names = [[f"{base}.{name}" if base else name for name in same] for same in module._names[one.name]]
                    found[f"{prefix}.{one.name}" if prefix else one.name] = dict(
                        names=names, sizes=[list(shape) for shape in one.shapes], by_rows=one.by_rows)
        return dict(shard_info=found, world_size=self.world_size, rank=self.rank)

    @torch.no_grad()
    def clip_grad_norm_(self, max_norm, norm_type=2.0, groups=None):
        """By the norm over all cores' parts."""
        groups = self.groups if groups is None else groups
        gradients = [p.grad for p in self.parameters() if p.grad is not None]
        if float(norm_type) == float("inf"):
            total = between.all_reduced(torch.stack([g.abs().max() for g in gradients]).max(), "max", groups)
        else:
            powers = torch.stack([g.to(torch.float32).abs().pow(norm_type).sum() for g in gradients]).sum()
            total = between.all_reduced(powers, "sum", groups) ** (1.0 / norm_type)
        factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
        for gradient in gradients:
            gradient.mul_(factor.to(gradient.dtype))
        return total


def consolidate_sharded_state_dicts(state_dicts, shard_metadata):
    """All cores' states as the module's own, with its names."""
    info, full = shard_metadata["shard_info"], {}
    for key, value in state_dicts[0].items():
        if key not in info:
            full[".".join(x for x in key.split(".") if x != WRAPPED)] = value
            continue
        known = info[key]
        rows = torch.cat([state[key] for state in state_dicts])
        sizes = [torch.Size(size) for size in known["sizes"]]
        if known["by_rows"]:
            pieces = [rows[:sizes[0][0]] if sizes[0] else rows]
        else:
            pieces = rows[:sum(size.numel() for size in sizes)].split([size.numel() for size in sizes])
        for names, piece, size in zip(known["names"], pieces, sizes):
            full.update({name: piece.reshape(size) for name in names})
    return full


def consolidate_sharded_model_checkpoints(ckpt_prefix, ckpt_suffix="_rank-*-of-*.pth", save_path="", save_model=True):
    import glob
    paths = sorted(glob.glob(ckpt_prefix + ckpt_suffix))
    if not paths:
        raise RuntimeError(f"no files {ckpt_prefix + ckpt_suffix}: save one of each core")
    checkpoints = sorted((torch.load(path, map_location="cpu") for path in paths),
                         key=lambda c: c["shard_metadata"]["rank"])
    if len(checkpoints) != checkpoints[0]["shard_metadata"]["world_size"]:
        raise RuntimeError(f"{len(checkpoints)} files {ckpt_prefix + ckpt_suffix} of "
                           f"{checkpoints[0]['shard_metadata']['world_size']} cores")
    full = consolidate_sharded_state_dicts([c["model"] for c in checkpoints], checkpoints[0]["shard_metadata"])
    save_path = save_path or ckpt_prefix + "_consolidated.pth"
    if save_model:
        torch.save({"model": full}, save_path)
    return full, save_path
