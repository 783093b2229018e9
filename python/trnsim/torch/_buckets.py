"""torch_neuronx.bucket_model_trace: a model traced for several sizes of inputs, among which a function of the script
chooses at each call."""
import io

import torch

from trnsim.torch import _traced
from trnsim.torch._engine import Refused, script_line

BUCKETS = "trnsim.buckets"  # in a file that BucketModel.save() wrote


class BucketModelConfig:
    """`bucket_kernel()` returns the function: of a list of inputs, it makes a list of those for a bucket, and its
    number. `func_kwargs`: arguments of the function that makes the model, for all buckets or for each."""

    def __init__(self, bucket_kernel, *_, shared_state_buffer=None, shared_state_buffer_preprocessor=None,
                 func_kwargs=None):
        if shared_state_buffer is not None or shared_state_buffer_preprocessor is not None:
            raise Refused(script_line(), "BucketModelConfig: states that buckets share are not supported: "
                                         "neuronx_distributed.ModelBuilder shares those of its programs")
        self.bucket_kernel, self.func_kwargs = bucket_kernel, func_kwargs or {}

    def given(self, count):
        """The function's arguments for each bucket. Errors: ValueError where there are fewer or more."""
        if isinstance(self.func_kwargs, dict):
            return [self.func_kwargs] * count
        if len(self.func_kwargs) != count:
            raise ValueError(f"BucketModelConfig: func_kwargs has arguments for {len(self.func_kwargs)} buckets, and "
                             f"there are inputs of {count}")
        return list(self.func_kwargs)


class BucketModel(torch.nn.Module):
    """`models`: one for each bucket, traced. `kernel` chooses."""

    def __init__(self, models, kernel):
        super().__init__()
        self.models, self.kernel = torch.nn.ModuleList(models), kernel

    def forward(self, *inputs):
        chosen, number = self.kernel(list(inputs))
        number = int(number)
        if not 0 <= number < len(self.models):
            raise Refused(script_line(), f"the bucket kernel chose bucket {number}, and there are {len(self.models)}, "
                                         "which are counted from 0")
        return self.models[number](*chosen)

    def save_to_buffer(self, _extra_files=None):
        """Errors: Refused where the kernel is no function of TorchScript, which alone can be stored."""
        if not isinstance(self.kernel, (torch.jit.ScriptFunction, torch.jit.ScriptModule)):
            raise Refused(script_line(), "a model of buckets is stored with its bucket kernel: make it with "
                                         "torch.jit.script()")
        kernel = io.BytesIO()
        torch.jit.save(self.kernel, kernel)
        memory = io.BytesIO()
        torch.save({BUCKETS: [model.save_to_buffer() for model in self.models], "kernel": kernel.getvalue()}, memory)
        return memory.getvalue()

    def save(self, f, _extra_files=None):
        _traced.keep(self.save_to_buffer(), f)


def loaded(found):
    """The model of buckets that save() has stored."""
    models = [torch.jit.load(io.BytesIO(data)) for data in found[BUCKETS]]
    return BucketModel(models, torch.jit.load(io.BytesIO(found["kernel"])))


_traced.READERS[BUCKETS] = loaded


def bucket_models(func, example_inputs, config, traced):
    """The model of buckets; `traced(func, inputs)` traces one of them. Errors: TypeError, ValueError."""
    if not isinstance(config, BucketModelConfig):
        raise TypeError("bucket_config must be a torch_neuronx.BucketModelConfig")
    if not isinstance(example_inputs, (list, tuple)) or not example_inputs or isinstance(example_inputs[0],
                                                                                        torch.Tensor):
        raise ValueError("example_inputs must be a list with the inputs of each bucket, which are tensors or tuples")
    models = [traced(lambda own=own: func(**own), inputs)
              for own, inputs in zip(config.given(len(example_inputs)), example_inputs)]
    return BucketModel(models, config.bucket_kernel())


def bucket_model_trace(func, example_inputs, bucket_config, *_, compiler_workdir=None, compiler_args=None):
    """func() returns a model and its input_output_aliases, for each bucket."""
    def traced(make, inputs):
        model, aliases = make()
        return _traced.trace(model, inputs, input_output_aliases=aliases, compiler_args=compiler_args)
    if not callable(func) or isinstance(func, torch.nn.Module):
        raise TypeError(f"bucket_model_trace(): func must be a function that returns a model and its states, and is a "
                        f"{type(func).__name__}")
    return bucket_models(func, example_inputs, bucket_config, traced)


def names():
    return dict(BucketModelConfig=BucketModelConfig, bucket_model_trace=bucket_model_trace)
