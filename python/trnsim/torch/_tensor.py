"""The tensor that scripts hold: a wrapper without data, whose operators are recorded. Tensors that are views of one
another share a Storage; a view remembers how it is made of the storage's value, and how a write goes back."""
import re

import torch

from trnsim.torch._engine import engine
from trnsim.torch._values import HOOKS, Storage, Value, contiguous

TENSOR = getattr(torch._C, "_TensorBase", None) or torch._C.TensorBase  # 1.13's name, and that of 2.1 and later
SEQUENCES = (list, tuple, range)
NO_DATA = "Cannot copy out of meta tensor; no data!"  # PyTorch's words
DEVICE = torch.device("xla", 0)  # PyTorch has the name built in; its C++ side is told "meta"


def place(item):
    """One index of several: sequences are tensors, of the host, as PyTorch's C++ side would make them where it can hold
    none."""
    if type(item) is bool:
        return torch.tensor(item)
    if isinstance(item, torch.Tensor) or not (hasattr(item, "__array__") or isinstance(item, SEQUENCES)):
        return item
    return torch.tensor(item if isinstance(item, SEQUENCES) else item.__array__())


def indices(index):
    """An index as PyTorch reads it: a short list that holds more than numbers is a tuple."""
    if isinstance(index, list) and len(index) < 32 and any(
            x is None or x is Ellipsis or isinstance(x, (torch.Tensor, slice, *SEQUENCES)) for x in index):
        index = tuple(index)
    return tuple([place(x) for x in index]) if isinstance(index, tuple) else place(index)


class DeviceTensor(torch.Tensor):
    """`_chain`: calls of views from the storage's value to this tensor; empty: the whole. Made by wrapped()."""
    __slots__ = ("_base_storage", "_chain", "_meta", "_seen")

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return HOOKS["dispatch"](func, args, kwargs or {})

    place = DEVICE  # as scripts are told

    @property
    def device(self):
        return self.place

    def get_device(self):
        return self.place.index or 0

    @property
    def is_meta(self):
        return False

    counts_as_cuda = False

    @property
    def is_cuda(self):
        return self.counts_as_cuda

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, other):
        """The tensor itself is `other` from here on; PyTorch's C++ side takes over its sizes."""
        if not isinstance(other, DeviceTensor):
            raise RuntimeError("x.data = y on the device needs a y on the device")
        guard = torch._C._DisableTorchDispatch()
        TENSOR.data.__set__(self, other)
        del guard
        self._base_storage, self._chain, self._meta, self._seen = (other._base_storage, other._chain, other._meta,
                                                                    None)

    def __getitem__(self, index):
        return super().__getitem__(indices(index))

    def __setitem__(self, index, value):
        super().__setitem__(indices(index), value)

    def tolist(self):
        return self.cpu().tolist()

    def type(self, dtype=None, **more):
        """The name of PyTorch's old tensor classes, or the tensor as one of them: those of the CPU are there."""
        if dtype is None:
            return torch.empty(0, dtype=self.dtype).type().replace("torch.", f"torch.{self.place.type}.")
        name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", "")
        if not name.endswith("Tensor"):
            return super().type(dtype, **more)
        old = getattr(torch, name.split(".")[-1])(0).dtype
        name = name if isinstance(dtype, str) else f"{dtype.__module__}.{name}"
        return self.to(old) if name.startswith(f"torch.{self.place.type}.") else self.cpu().to(old)

    def new_tensor(self, data, *, dtype=None, device=None, **more):
        return torch.tensor(data, dtype=dtype or self.dtype, device=DEVICE if device is None else device, **more)

    def new(self, *args, **more):
        """A tensor of sizes, or of data."""
        if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
            return self.new_tensor(args[0], **more)
        return self.new_empty(args[0] if args and isinstance(args[0], torch.Size) else args or (0,), **more)

    def share_memory_(self):
        raise RuntimeError("tensors of the device are not shared between processes, each of which is a core: use "
                           "DistributedDataParallel")

    plain_numpy = False

    def numpy(self, *_, **__):
        if self.plain_numpy:
            return self.detach().cpu().numpy()
        raise TypeError(f"can't convert {self.place} device type tensor to numpy. "
                        "Use Tensor.cpu() to copy the tensor to host memory first.")

    def __array__(self, *_, **__):
        return self.numpy()

    def __repr__(self, *_, **__):
        """As PyTorch writes it: the device, the type where it is not the usual one, and what autograd knows."""
        text, *dtype = re.split(r",\s+(?=dtype=)", repr(self.detach().cpu())[:-1])
        suffixes = [f"device='{self.place}'", *dtype]
        if self.grad_fn is not None:
            suffixes.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            suffixes.append("requires_grad=True")
        head = "Parameter containing:\n" if getattr(self, "_is_param", False) else ""
        return head + torch._tensor_str._add_suffixes(text, suffixes, len("tensor("), False)

    def __format__(self, spec):
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def __reduce_ex__(self, protocol):
        """As torch_xla's: the values, which come back to the device."""
        if not getattr(self, "_is_param", False):
            there = self.detach().cpu()
            numbers = (there.float() if there.dtype is torch.bfloat16 else there).numpy()  # numpy has no bf16
            return (torch._utils._rebuild_device_tensor_from_numpy,
                    (numbers, self.dtype, str(self.place), self.requires_grad))
        return torch._utils._rebuild_parameter, (self.detach(), self.requires_grad, {})

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                               "protocol at the moment")
        with torch.no_grad():
            copy = self.detach().clone()
        copy = torch.nn.Parameter(copy, self.requires_grad) if getattr(self, "_is_param", False) else copy
        if self.grad is not None:
            copy.grad = self.grad.__deepcopy__(memo)
        memo[id(self)] = copy.requires_grad_(self.requires_grad)
        return copy


MAKE = torch.Tensor._make_wrapper_subclass


def wrapped(storage, chain, meta):
    tensor = MAKE(DeviceTensor, meta.shape, **meta.form)
    tensor._base_storage, tensor._chain, tensor._meta, tensor._seen = storage, chain, meta, None
    return tensor


def view_of(base, chain, meta):
    """A tensor of the same storage; one of a tensor that autograd knows is such, too, where torch.inference_mode() is
    around."""
    if torch.is_inference_mode_enabled() and not base.is_inference():
        with torch.inference_mode(False):
            return wrapped(base._base_storage, chain, meta)
    return wrapped(base._base_storage, chain, meta)


def new_tensor(value, meta=None):
    """A tensor with a storage of its own."""
    meta = meta or value.meta
    return wrapped(Storage(value, meta), (), meta)


def from_host(tensor, meta=None):
    """A tensor of the CPU, copied to the device."""
    if tensor.is_meta:
        raise NotImplementedError(NO_DATA)
    tensor = tensor.detach()
    meta = meta or contiguous(tensor.shape, tensor.dtype)
    return new_tensor(Value(meta, buffer=engine().upload(tensor)), meta)


def host_argument(tensor):
    """Numbers of the CPU may be mixed in, as PyTorch allows; so may indices."""
    if tensor.dim() and not tensor.dtype in (torch.int64, torch.bool, torch.uint8):
        raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, "
                           f"xla:0 and {tensor.device}!")
    return from_host(tensor)


def is_there(item):
    """Whether an argument is a tensor of the device, or a number."""
    return type(item) is DeviceTensor or not isinstance(item, torch.Tensor) or item.dim() == 0
