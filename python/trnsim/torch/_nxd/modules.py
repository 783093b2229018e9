"""neuronx_distributed's modules by name, found by Python's import where a script asks for them."""
import importlib

from trnsim.torch import _finder
from trnsim.torch._engine import engine
from trnsim.torch._nxd import builder, built, checkpointing, convs, first, grads, layers, lora, losses, mappings
from trnsim.torch._nxd import pad, qkv, random, sharding, state, trace, trainer, utils, zero

VERSION = "0.9.0"


def absent(name, way_out):
    """A name that models import at their head and may never use."""
    def called(*_, **__):
        state.refuse(f"neuronx_distributed's {name} is not supported: {way_out}")
    return called


ABSENT = {
    "pipeline": ("NxDPPModel", "use tensor and data parallelism"),
    "pipeline.model": ("NxDPPModel", "use tensor and data parallelism"),
    "kernels.flash_attn": ("nki_flash_attn_func", "write attention in PyTorch"),
    "kernels.ring_attention_kernel": ("nki_ring_attn_func", "write attention in PyTorch"),
}


def building():
    """The names of ModelBuilder and of the models that it makes."""
    artifacts = dict(TraceArtifacts=built.TraceArtifacts, CompilationArtifacts=built.CompilationArtifacts)
    model = dict(NxDModel=built.NxDModel)
    return {
        "trace.model_builder": dict(artifacts, **first.names(), ModelBuilderV2=builder.ModelBuilder,
                                    trace=builder.trace, compile=builder.compiled,
                                    shard_checkpoint=builder.shard_checkpoint),
        "trace.spmd": dict(NxDModel=first.NxDModel, NxDModelExecutor=first.NxDModelExecutor),
        "trace.model_builder_utils": artifacts, "trace.nxd_model": model, "trace.nxd_model.nxd_model": model,
        "trace.nxd_model.base_nxd_model": dict(StateInitializer=built.StateInitializer),
        "trace.mock_torchdist": dict(mock_distributed=builder.mock_distributed),
        "trace.parallel_context": dict(NxDParallelState=builder.NxDParallelState)}


def helpers():
    """The names of neuronx_distributed.utils."""
    return {
        "utils": dict(is_hf_pretrained_model=utils.is_hf_pretrained_model, cpu_mode=utils.cpu_mode,
                      mark_step=utils.mark_step),
        "utils.utils": dict(cpu_mode=utils.cpu_mode, mark_step=utils.mark_step, hardware=utils.hardware),
        "utils.logger": dict(get_logger=utils.get_logger),
        "utils.model_utils": dict(move_model_to_device=utils.move_model_to_device,
                                  is_hf_pretrained_model=utils.is_hf_pretrained_model,
                                  init_on_device=sharding.init_on_device),
        "utils.adamw_fp32_optim_params": dict(AdamW_FP32OptimParams=zero.AdamW_FP32OptimParams),
        "utils.activation_checkpoint": dict(apply_activation_checkpointing=trainer.apply_activation_checkpointing),
        "utils.serialization": dict(),
    }


def tables():
    """{module below neuronx_distributed: its names}."""
    weights = dict(layers.names(), **convs.names())
    weights.update({name: value for name, value in utils.names().items() if "attributes" in name or
                    name.startswith(("create_local", "param_is", "divide"))})
    package = dict(layers.names(), **convs.names(), **mappings.names(), **random.names(), **checkpointing.names(),
                   clip_grad_norm=grads.clip_grad_norm, initialize_model_parallel=state.initialize_model_parallel,
                   split_tensor_along_last_dim=utils.split_tensor_along_last_dim,
                   move_model_to_device=utils.move_model_to_device)
    of_trainer = dict(
        neuronx_distributed_config=trainer.neuronx_distributed_config, load_checkpoint=checkpointing.load_checkpoint,
        initialize_parallel_model=trainer.initialize_parallel_model, save_checkpoint=checkpointing.save_checkpoint,
        initialize_parallel_optimizer=trainer.initialize_parallel_optimizer,
        has_checkpoint=checkpointing.has_checkpoint, finalize_checkpoint=checkpointing.finalize_checkpoint)
    found = {
        "": dict(of_trainer, __version__=VERSION, ModelBuilder=builder.ModelBuilder, NxDModel=built.NxDModel,
                 NxDParallelState=builder.NxDParallelState, shard_checkpoint=builder.shard_checkpoint),
        "parallel_layers": package,
        "parallel_layers.parallel_state": state.names(), "parallel_layers.mappings": mappings.names(),
        "parallel_layers.layers": weights, "parallel_layers.layer_norm": dict(LayerNorm=layers.LayerNorm),
        "parallel_layers.loss_functions": losses.names(), "parallel_layers.grads": grads.names(),
        "parallel_layers.random": random.names(), "parallel_layers.utils": utils.names(),
        "parallel_layers.checkpointing": checkpointing.names(),
        "parallel_layers.pad": pad.names(),
        "modules.rms_norm": dict(RMSNorm=layers.RMSNorm),
        "modules.qkv_linear": dict(GQAQKVColumnParallelLinear=qkv.GQAQKVColumnParallelLinear),
        "optimizer": dict(NeuronZero1Optimizer=zero.NeuronZero1Optimizer),
        "optimizer.zero_redundancy_optimizer": dict(NeuronZero1Optimizer=zero.NeuronZero1Optimizer),
        "trainer": of_trainer, "trainer.trainer": of_trainer, "trainer.checkpoint": of_trainer,
        "trainer.model": dict(NxDModel=trainer.NxDModel), "trainer.optimizer": dict(NxDOptimizer=trainer.NxDOptimizer),
        "trace": dict(trace.names(), ModelBuilder=first.ModelBuilder), "trace.trace": trace.names(),
        **lora.tables(), **helpers(), **building()}
    for module, (name, way_out) in ABSENT.items():
        found.setdefault(module, {})[name.split()[-1]] = absent(name, way_out)
    return found


def begin():
    """A script that imports it marks its steps by itself, as torch_xla's do. It imports torch_neuronx, which reads and
    writes models that were traced."""
    engine().knows_torch_xla = True
    importlib.import_module("torch_neuronx")


def install():
    _finder.find("neuronx_distributed", tables, begin)
