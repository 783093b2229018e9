"""DistributedDataParallel between simulated cores: parameters of core 0 at the beginning, averaged gradients behind
each backward pass."""
import contextlib
import functools

import torch

from trnsim.torch import _collectives, _dist
from trnsim.torch._engine import engine
from trnsim.torch._tensor import DeviceTensor
from trnsim.torch._newer import only


OPTIONS = ("process_group", "bucket_cap_mb", "find_unused_parameters", "check_reduction", "gradient_as_bucket_view",
           "static_graph", "init_sync")  # most change how gradients travel, not their values
UNUSED = ("DistributedDataParallel: {} of {} parameters got no gradient on this core, and others wait for it: give "
          "find_unused_parameters=True, or leave these parameters out of the loss on no core")


class Bucket:
    """Gradients that travel together, as a hook of communication gets them: torch.distributed.GradBucket."""

    def __init__(self, gradients, parameters, place, last):
        self._gradients, self._parameters, self._place, self._last = gradients, parameters, place, last
        self._flat = torch.cat([gradient.reshape(-1) for gradient in gradients])

    def index(self):
        return self._place

    def buffer(self):
        return self._flat

    def set_buffer(self, tensor):
        self._flat = tensor

    def gradients(self):
        parts = self._flat.split([gradient.numel() for gradient in self._gradients])
        return [part.view(gradient.shape) for part, gradient in zip(parts, self._gradients)]

    def parameters(self):
        return self._parameters

    def is_last(self):
        return self._last


class DistributedDataParallel(torch.nn.Module):
    """As PyTorch's, whose own reducer knows no tensors without storage."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, **options):
        super().__init__()
        only(options, OPTIONS, "DistributedDataParallel")
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameters that "
                               "require a gradient.")
        self.module, self.device_ids, self.broadcast_buffers = module, device_ids, broadcast_buffers
        self.process_group = options.get("process_group") or _dist.world()
        self.require_backward_grad_sync, self._queued, self._used = True, False, set()
        self._finds = bool(options.get("find_unused_parameters") or options.get("static_graph"))
        self._hook, self._most = None, int(options.get("bucket_cap_mb") or 25) << 20
        with torch.no_grad():
            for tensor in list(module.parameters()) + list(module.buffers()):
                self._from_first(tensor)
        for place, parameter in enumerate(module.parameters()):
            if parameter.requires_grad:
                parameter.register_hook(functools.partial(self._seen, place))

    def _from_first(self, tensor):
        if self.process_group.size() > 1:
            _dist.broadcast(tensor, self.process_group.ranks[0], self.process_group)

    def _seen(self, place, gradient):
        if self.require_backward_grad_sync and self.process_group.size() > 1:
            self._used.add(place)
            if not self._queued:
                self._queued = True
                torch.autograd.Variable._execution_engine.queue_callback(self._reduce)

    def _gradients(self):
        """Gradients of the parameters that some core has used; a core without one adds zeros."""
        used, self._used = self._used, set()
        trained = {place: p for place, p in enumerate(self.module.parameters()) if p.requires_grad}
        if self._finds:
            used = set().union(*engine().backend.exchange("parameters that a core has used", used))
        elif len(used) < len(trained):
            raise RuntimeError(UNUSED.format(len(trained) - len(used), len(trained)))
        for place in sorted(used):
            parameter = trained[place]
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            yield parameter.grad

    def _reduce(self):
        """All gradients, when the last is there."""
        self._queued = False
        with torch.no_grad():
            gradients = list(self._gradients())
            if self._hook is not None:
                return self._by_hook(gradients)
            here = [g for g in gradients if isinstance(g, DeviceTensor)]
            size = self.process_group.size()
            for old, new in zip(here, _collectives.all_reduced_list(here, "sum", self.process_group.rows)):
                old.copy_(new / size)
            for gradient in gradients:
                if not isinstance(gradient, DeviceTensor):
                    gradient.copy_(_dist.combined(gradient, "avg", self.process_group))

    def register_comm_hook(self, state, hook):
        """`hook(state, bucket)` gives a future of the bucket's gradients, combined, in the place of their mean."""
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        self._hook = (state, hook)

    def _by_hook(self, gradients):
        """Buckets in the order in which backward passes end: the last parameters first."""
        owners = {id(p.grad): p for p in self.module.parameters()}
        buckets, sizes = [], []
        for gradient in reversed(gradients):
            size = gradient.numel() * gradient.element_size()
            if not buckets or buckets[-1][0].dtype != gradient.dtype or sizes[-1] + size > self._most:
                buckets.append([])
                sizes.append(0)
            buckets[-1].append(gradient)
            sizes[-1] += size
        for place, bucket in enumerate(buckets):
            given = Bucket(bucket, [owners[id(g)] for g in bucket], place, place == len(buckets) - 1)
            state, hook = self._hook
            new = hook(state, given).wait()
            given.set_buffer(new[0] if isinstance(new, (list, tuple)) else new)
            for old, combined in zip(bucket, given.gradients()):
                old.copy_(combined)

    def forward(self, *args, **kwargs):
        if self.training and self.broadcast_buffers and self.require_backward_grad_sync:
            with torch.no_grad():
                for buffer in self.module.buffers():
                    self._from_first(buffer)
        return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


def install():
    torch.nn.parallel.DistributedDataParallel = DistributedDataParallel
    torch.nn.parallel.distributed.DistributedDataParallel = DistributedDataParallel
