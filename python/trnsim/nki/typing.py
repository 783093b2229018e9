"""nki.typing: `nt.tensor[shape]` in annotations, `nt.tensor[shape, dtype]` in place of an array without values."""


class TensorType:
    def __init__(self, shape, dtype=None):
        self.shape, self.dtype = tuple(shape), dtype


class _Tensor:
    def __class_getitem__(cls, key):
        if isinstance(key, tuple) and len(key) == 2 and not isinstance(key[1], int):
            return TensorType(key[0], key[1])
        return TensorType(key if isinstance(key, (tuple, list)) else (key,))


tensor = _Tensor
scalar = float
mutable_tensor = tensor
