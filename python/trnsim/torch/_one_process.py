"""torch_xla.distributed.data_parallel: the devices of one process, each with a copy of the model. A process of the
machine has one NeuronCore here, and spawn() starts one for each."""
import copy

import torch

from trnsim.torch._loaders import ParallelLoader
from trnsim.torch._tensor import DEVICE


class Context:
    """Holds a loop's objects from one call to the next."""

    def __init__(self, device):
        self.device = device

    def getattr_or(self, name, defval):
        value = getattr(self, name, None)
        if value is None:
            value = defval() if callable(defval) else defval
            setattr(self, name, value)
        return value


class DataParallel:
    """`network`: a module, or a function that makes one. Without device_ids on the device, with none of them on the
    host. Errors: RuntimeError for several devices."""

    def __init__(self, network, device_ids=None):
        ids = [DEVICE] if device_ids is None else [torch.device(one) for one in device_ids]
        if len(ids) > 1 or any(one.type != "xla" or one.index not in (None, 0) for one in ids):
            raise RuntimeError(f"DataParallel on {list(map(str, ids))}: each process has one device, a NeuronCore: "
                               "start one for each by torch_xla.distributed.xla_multiprocessing.spawn(), whose "
                               "gradients xm.optimizer_step() averages")
        module = network if isinstance(network, torch.nn.Module) else network()
        self.on_host = not ids
        model = module if self.on_host else copy.deepcopy(module).to(DEVICE)
        place = next((p.device for p in model.parameters()), torch.device("cpu")) if self.on_host else DEVICE
        self._models, self._device_ids, self._contexts = [model], [str(place)], [Context(place)]

    @property
    def devices(self):
        return self._device_ids

    @property
    def models(self):
        return self._models

    def __call__(self, loop_fn, loader, batchdim=0, **kwargs):
        """[loop_fn(model, loader on the device, device, context)]. Each batch ends the step before."""
        context = self._contexts[0]
        given = loader if self.on_host else ParallelLoader(loader, [context.device]).per_device_loader(context.device)
        return [loop_fn(self._models[0], given, context.device, context, **kwargs)]


def names():
    return dict(DataParallel=DataParallel, Context=Context)
