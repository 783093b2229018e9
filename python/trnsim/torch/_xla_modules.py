"""torch_xla's modules by name, found by Python's import where a script asks for them."""
import contextlib
import functools

import torch

from trnsim.torch import _amp, _buckets, _checkpoint, _data_parallel, _experimental, _finder, _fsdp, _functions, \
    _loaders, _metrics, _neuronx, _one_process, _partition, _spmd, _stablehlo, _syncfree, _testing, _traced, _wrap, \
    _xla, _xla_buckets, _xla_utils, _zero
from trnsim.torch._engine import engine
from trnsim.torch._newer import VERSION
from trnsim.torch._tensor import DEVICE
from trnsim.torch._xla import mark_step, ordinal, world_size

VERSIONS = dict(__version__=VERSION, __xla_gitrev__="", __torch_gitrev__="")  # of no commit of torch_xla's
# Names of environment variables: those of a core's number are torchrun's, which each process here has.
VARIABLES = dict(
    WORLD_SIZE="WORLD_SIZE", ORDINAL="RANK", LOCAL_ORDINAL="LOCAL_RANK", MP_DEVICE="XRT_MULTI_PROCESSING_DEVICE",
    LOCAL_WORKER="XRT_LOCAL_WORKER", TPU_CONFIG="XRT_TPU_CONFIG", TPUVM_MODE="TPUVM_MODE",
    SERVICE_ADDRESS="XRT_MESH_SERVICE_ADDRESS", DEVICE_MAP="XRT_DEVICE_MAP", WORKERS="XRT_WORKERS",
    HOST_WORLD_SIZE="XRT_HOST_WORLD_SIZE", HOST_ORDINAL="XRT_HOST_ORDINAL", TORCH_DIST_METHOD="XRT_TORCH_DIST_METHOD",
    TORCH_DIST_ROOT="XRT_TORCH_DIST_ROOT", TPU_NUM_DEVICES="TPU_NUM_DEVICES", GPU_NUM_DEVICES="GPU_NUM_DEVICES",
    CPU_NUM_DEVICES="CPU_NUM_DEVICES", PJRT_DEVICE="PJRT_DEVICE", PJRT_CPU_ASYNC_CLIENT="PJRT_CPU_ASYNC_CLIENT",
    PJRT_SELECT_DEFAULT_DEVICE="PJRT_SELECT_DEFAULT_DEVICE", TPU_VISIBLE_CHIPS="TPU_VISIBLE_CHIPS",
    TPU_PROCESS_BOUNDS="TPU_PROCESS_BOUNDS", TPU_PROCESS_ADDRESSES="TPU_PROCESS_ADDRESSES",
    TPU_PROCESS_PORT="TPU_PROCESS_PORT", TPU_CHIPS_PER_PROCESS_BOUNDS="TPU_CHIPS_PER_PROCESS_BOUNDS",
    CLOUD_TPU_TASK_ID="CLOUD_TPU_TASK_ID")


@contextlib.contextmanager
def step():
    """torch_xla.step(): the block is a step."""
    mark_step()
    try:
        yield
    finally:
        mark_step()


def compiled(f=None, full_graph=False, name=None, num_different_graphs_allowed=None, allowed_traces=None):
    """torch_xla.compile(): a function whose graphs begin and end with it."""
    if f is None:
        return step()
    most = allowed_traces if num_different_graphs_allowed is None else num_different_graphs_allowed
    made = [0]

    @functools.wraps(f)
    def called(*args, **kwargs):
        mark_step()
        running, told = engine(), name or getattr(f, "__name__", "the function")
        reads, programs = running.cuts["read"], len(running.programs)
        with step():
            out = f(*args, **kwargs)
            if full_graph and running.cuts["read"] > reads:
                raise RuntimeError(f"torch_xla.compile(full_graph=True): {told} reads a value, which cuts its graph")
        made[0] += len(running.programs) - programs
        if most is not None and made[0] > most:
            raise RuntimeError(f"torch_xla.compile: {told} has {made[0]} graphs, and {most} are allowed")
        return out
    return called


class Nothing:
    """A context that does nothing: the profiler's, which the simulator's own replaces, or a GPU's."""

    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class MpModelWrapper:
    """A model that all processes share until each moves its own to its device."""

    def __init__(self, model):
        self._model = model

    def to(self, device):
        return self._model.to(device)


class MpSerialExecutor:
    def run(self, function):
        return function()


class StepTrace(Nothing):
    """The profiler's block that is a step: it ends where the block does."""

    def __exit__(self, *_):
        mark_step()


def pass_on(value):
    return lambda *_, **__: value


def model_names():
    x = _xla
    return dict(
        xla_device=x.xla_device, mark_step=mark_step, all_reduce=x.all_reduce, optimizer_step=x.optimizer_step,
        all_gather=x.all_gather, reduce_scatter=x.reduce_scatter, reduce_gradients=x.reduce_gradients,
        all_to_all=x.all_to_all, collective_permute=x.collective_permute, collective_broadcast=x.collective_broadcast,
        broadcast_master_param=x.broadcast_master_param, get_ordinal=ordinal, get_local_ordinal=ordinal,
        xrt_world_size=world_size, rt_world_size=world_size, save=x.save, rendezvous=x.rendezvous,
        mesh_reduce=x.mesh_reduce,
        is_master_ordinal=x.is_master_ordinal, master_print=x.master_print, wait_device_ops=pass_on(None),
        xla_device_hw=pass_on("NEURON"), get_xla_supported_devices=x.supported_devices,
        xla_real_devices=lambda devices=None: ["NEURON:0"], add_step_closure=x.add_step_closure,
        run_step_closures=x.run_step_closures, is_xla_tensor=x.is_xla_tensor, do_on_ordinals=x.do_on_ordinals,
        send_cpu_data_to_device=x.send_cpu_data_to_device, unlazy=x.unlazy, set_rng_state=x.seed,
        get_rng_state=lambda device=None: torch.initial_seed(), get_memory_info=x.memory_info,
        RateTracker=x.RateTracker, gather_grads=None, parse_xla_device=lambda device: ("NEURON", 0),
        set_replication=pass_on(None), _maybe_convert_to_cpu=lambda data, convert=True: x.to_host(data),
        optimization_barrier_=_checkpoint.optimization_barrier_, _fetch_gradients=x.gradients_of,
        check_view_sharing=_xla_utils.check_view_sharing,
        get_stablehlo=_xla_utils.get_stablehlo, **_xla_buckets.names(), **x.REDUCE)


def runtime_names():
    one, size = pass_on(1), world_size
    return dict(
        world_size=size, global_ordinal=ordinal, local_ordinal=ordinal, device_type=pass_on("NEURON"),
        global_runtime_device_count=size, global_device_count=size, addressable_device_count=one,
        addressable_runtime_device_count=one, local_device_count=size, local_process_count=size, process_count=size,
        process_index=ordinal, xla_device=_xla.xla_device, use_spmd=_spmd.use_spmd, is_spmd=_spmd.is_spmd,
        using_pjrt=pass_on(True), initialize_cache=pass_on(None), set_device_type=pass_on(None),
        get_master_ip=pass_on("127.0.0.1"), host_index=pass_on(0), is_bf16_supported=pass_on(True))


def training_update(device, step, loss, rate, global_rate, epoch=None, summary_writer=None):
    print(f"| Training Device={device} Epoch={epoch} Step={step} Loss={float(loss):.5f} Rate={rate:.2f} "
          f"GlobalRate={global_rate:.2f}", flush=True)


def sharded_names():
    """Modules of torch_xla.distributed.fsdp."""
    below = dict(consolidate_sharded_model_checkpoints=_fsdp.consolidate_sharded_model_checkpoints,
                 consolidate_sharded_state_dicts=_fsdp.consolidate_sharded_state_dicts)
    wrapper = dict(XlaFullyShardedDataParallel=_fsdp.XlaFullyShardedDataParallel)
    helpers = dict(checkpoint_module=_wrap.checkpoint_module,
                   apply_xla_patch_to_nn_linear=lambda module, *_, **__: module)
    return {"distributed.fsdp": dict(wrapper, **below, **helpers), "distributed.fsdp.wrap": _wrap.names(),
            "distributed.fsdp.utils": helpers, "distributed.fsdp.state_dict_utils": below,
            "distributed.fsdp.xla_fully_sharded_data_parallel": wrapper}


def tables():
    """{module below torch_xla: its names}."""
    import time
    spawning = dict(spawn=_xla.spawn, MpModelWrapper=MpModelWrapper, MpSerialExecutor=MpSerialExecutor)
    now = lambda format="%H:%M:%S": time.strftime(format)  # noqa
    return {
        "core.xla_model": model_names(), "runtime": runtime_names(), "experimental.pjrt": runtime_names(),
        "core.functions": _functions.names(),
        "core.xla_env_vars": dict(VARIABLES), "version": dict(VERSIONS), "experimental.pjrt_backend": {},
        "distributed.data_parallel": _one_process.names(),
        "distributed.parallel_loader": _loaders.names(),
        "distributed.zero_redundancy_optimizer": dict(ZeroRedundancyOptimizer=_zero.ZeroRedundancyOptimizer),
        "distributed.xla_multiprocessing": spawning, "distributed.xla_backend": {},
        "amp": dict(autocast=_amp.XlaAutocast, GradScaler=_amp.GradScaler),
        "amp.autocast_mode": dict(autocast=_amp.XlaAutocast), **_syncfree.tables(),
        "debug.metrics": _metrics.names(), "debug.metrics_compare_utils": {},
        "debug.profiler": dict(Trace=Nothing, StepTrace=StepTrace, start_server=pass_on(None), trace=pass_on(None),
                               trace_detached=pass_on(None), start_trace=pass_on(None), stop_trace=pass_on(None)),
        **sharded_names(), **_stablehlo.tables(), **_spmd.tables(), **_experimental.tables(compiled),
        "utils.serialization": dict(save=_xla.save_files, load=_xla.load),
        "utils.utils": _xla_utils.names(),
        "utils.checkpoint": dict(checkpoint=_checkpoint.checkpoint),
        "test.test_utils": dict(get_summary_writer=pass_on(None), write_to_summary=pass_on(None),
                                close_summary_writer=pass_on(None), now=now, print_training_update=training_update,
                                print_test_update=lambda device, accuracy, epoch=None, step=None: print(
                                    f"| Test Device={device} Epoch={epoch} Step={step} Accuracy={accuracy}")),
        "": dict(device=_xla.xla_device, devices=lambda: [DEVICE], device_count=world_size, sync=_xla.sync, step=step,
                 real_devices=lambda: ["NEURON:0"], compile=compiled, launch=_xla.launch, manual_seed=_xla.seed,
                 __version__=VERSION)}


def begin():
    """A script that imports torch_xla marks its steps by itself."""
    engine().knows_torch_xla = True


def ahead():
    """torch_neuronx: models compiled ahead of time, which torch.jit stores."""
    begin()
    torch.jit.load = _traced.load(torch.jit.load)


def install():
    _stablehlo.install()
    _finder.find("torch_xla", tables, begin)
    neuronx = dict(__version__=VERSION, DataParallel=_data_parallel.DataParallel, **_buckets.names(),
                   **_traced.names(), **_partition.names())
    _finder.find("torch_neuronx", lambda: {"": dict(neuronx), **_neuronx.tables(), **_testing.tables()}, ahead)
