"""torch_xla.distributed.parallel_loader: batches of a loader on the device."""
from trnsim.torch import _spmd
from trnsim.torch._newer import only
from trnsim.torch._tensor import DEVICE
from trnsim.torch._xla import mark_step, to_device

OPTIONS = ("batchdim", "loader_prefetch_size", "device_prefetch_size", "host_to_device_transfer_threads",
           "input_sharding")


def checked(options, where):
    only(options, OPTIONS, where)
    if options.get("input_sharding") is not None and not _spmd.is_spmd():
        raise RuntimeError(f"{where} with input_sharding: call torch_xla.runtime.use_spmd() first")


class PerDeviceLoader:
    """An iterator over one pass of a loader. Each batch ends the step before, or every so many do; the end does."""

    def __init__(self, loader, every):
        self._loader, self._every, self._count, self._batches = loader, every, 0, None

    def __iter__(self):
        return self

    def __next__(self):
        if self._batches is None:
            self._batches = iter(self._loader)
        ends_step = self._count % self._every == 0
        if ends_step:
            mark_step()
        self._count += 1
        try:
            return to_device(next(self._batches))
        except StopIteration:
            if not ends_step:
                mark_step()
            raise

    def next(self):
        return next(self)

    def __len__(self):
        return len(self._loader)


class MpDeviceLoader:
    """A loader whose batches are on the device; iter() begins a pass."""

    def __init__(self, loader, device=DEVICE, batches_per_execution=1, **options):
        checked(options, "MpDeviceLoader")
        self._loader, self._device, self._every = loader, device, max(int(batches_per_execution), 1)

    def __iter__(self):
        return PerDeviceLoader(self._loader, self._every)

    def __len__(self):
        return len(self._loader)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)


class ParallelLoader:
    """One pass: its loader of a device is an iterator, and ends with it."""

    def __init__(self, loader, devices=None, batches_per_execution=1, **options):
        checked(options, "ParallelLoader")
        self._pass = PerDeviceLoader(loader, max(int(batches_per_execution), 1))
        self.batches_per_execution = self._pass._every

    def per_device_loader(self, device):
        return self._pass

    def per_device_samples(self):
        return len(self._pass)

    def close(self):
        self._pass._batches = iter(())


def names():
    return dict(MpDeviceLoader=MpDeviceLoader, ParallelLoader=ParallelLoader, PerDeviceLoader=PerDeviceLoader)
