"""neuronx_distributed.parallel_layers.loss_functions: of logits whose words are divided among cores."""
import torch

from trnsim.torch import _collectives as device_of
from trnsim.torch._nxd import state


def over_cores(tensor, operation="sum"):
    return device_of.all_reduced(tensor, operation, state.rows())


def log_softmax(logits):
    """(logits of this core's words without the largest of all, sum of the exponentials of all)."""
    shifted = logits - over_cores(logits.amax(-1), "max").unsqueeze(-1)
    return shifted, over_cores(shifted.exp().sum(-1))


def chosen(logits, target):
    """[..., words of this core]: whether a word is the target."""
    words = torch.arange(logits.shape[-1], device=logits.device)
    return (target - state.place(logits) * logits.shape[-1]).unsqueeze(-1) == words


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, smoothing):
        shifted, total = log_softmax(logits)
        is_target = chosen(logits, target)
        loss = total.log() - over_cores(shifted.masked_fill(~is_target, 0).sum(-1))
        words = logits.shape[-1] * state.get_tensor_model_parallel_size()
        ctx.share = smoothing * words / (words - 1)
        ctx.words = words
        ctx.save_for_backward(shifted, total, is_target)
        if smoothing:  # the mean of all words' log probabilities, with its share of the loss
            loss = (1 - ctx.share) * loss - ctx.share * (over_cores(shifted.sum(-1)) / words - total.log())
        return loss

    @staticmethod
    def backward(ctx, gradient):
        shifted, total, is_target = ctx.saved_tensors
        wanted = is_target.to(shifted.dtype)
        if ctx.share:
            wanted = wanted * (1 - ctx.share) + ctx.share / ctx.words
        return (shifted.exp() / total.unsqueeze(-1) - wanted) * gradient.unsqueeze(-1), None, None


def parallel_cross_entropy(vocab_parallel_logits, target, label_smoothing=0.0):
    """A loss for each target. label_smoothing: so much of the probability is for words other than the target."""
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"parallel_cross_entropy: label_smoothing={label_smoothing} is not in [0, 1)")
    return CrossEntropy.apply(vocab_parallel_logits, target, label_smoothing)


class LogProbability(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        shifted, total = log_softmax(logits)
        is_target = chosen(logits, target)
        ctx.save_for_backward(shifted, total, is_target)
        return over_cores((shifted - total.log().unsqueeze(-1)).masked_fill(~is_target, 0).sum(-1))

    @staticmethod
    def backward(ctx, gradient):
        shifted, total, is_target = ctx.saved_tensors
        return (is_target.to(shifted.dtype) - shifted.exp() / total.unsqueeze(-1)) * gradient.unsqueeze(-1), None


def from_parallel_logits_to_logprobs(vocab_parallel_logits, target, inference=True):
    """[batch, sequence - 1]: log probabilities of the next tokens; `target` is not shifted."""
    return LogProbability.apply(vocab_parallel_logits, target.roll(-1, -1))[:, :-1].contiguous()


def names():
    return dict(parallel_cross_entropy=parallel_cross_entropy,
                from_parallel_logits_to_logprobs=from_parallel_logits_to_logprobs)
