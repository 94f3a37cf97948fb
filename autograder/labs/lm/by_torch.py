"""The student's GPT, trained by the student's own ``train``; it is watched, stopped and taken up from outside.

``train`` makes its own optimizer and counts its steps from 0. So a hook on torch's optimizers meets the student's one
before its first step, gives it the averages of the earlier run, and sets the learning rate of the step that it is.
"""

from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.labs import checkpoint
from autograder.labs.device import CPU, living_on
from autograder.labs.lm.corpus import Corpus
from autograder.labs.lm.journal import Journal, State
from autograder.labs.lm.settings import ModelSettings
from autograder.labs.work import StudentCodeError, Work

if TYPE_CHECKING:
    import torch
    from torch import nn

PARTS = ("part6", "part7")
_EVALUATED = 20_000  # tokens, held out: as precise as a training's curve needs


def build(work: Work, settings: ModelSettings, vocab_size: int) -> "nn.Module":
    """Build part 6's GPT."""
    part6 = work.part("part6")
    config = part6.GPTConfig(
        vocab_size=vocab_size,
        block_size=settings.context,
        n_layers=settings.blocks,
        n_heads=settings.heads,
        d_model=settings.embed,
        positions=settings.positions,
        norm=settings.norm,
    )
    model: nn.Module = part6.GPT(config)
    return model


def load(model: "nn.Module", state: State) -> None:
    """Give a model the weights of a checkpoint.

    Raises:
        UsageError: They are those of another model.
    """
    try:
        model.load_state_dict(checkpoint.model_weights(state[0]))
    except RuntimeError as error:
        told = " ".join(str(error).split())[:300]
        remedy = "your model has changed since; train anew with --fresh, or name another folder"
        raise UsageError(f"the checkpoint does not fit your model: {told}", remedy) from None


def run(
    work: Work, settings: ModelSettings, corpus: Corpus, journal: Journal, state: State | None, device: str = CPU
) -> None:
    """Make the steps that are left, with the model on a device; the student's loop stays on the processor."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    part7 = work.part("part7")
    model = build(work, settings, len(corpus.codec.pieces))
    generator = torch.Generator().manual_seed(settings.seed)
    if state is not None:
        load(model, state)
        checkpoint.restore_generators(state[0], generator)
    own: set[int] = set()
    begun: list[torch.optim.Optimizer] = []

    def before_step(optimizer: "torch.optim.Optimizer", args: Any, kwargs: Any) -> None:
        if not any(id(parameter) in own for group in optimizer.param_groups for parameter in group["params"]):
            return
        if not begun:
            begun.append(optimizer)
            if state is not None:
                checkpoint.restore_optimizer(state[0], state[1]["groups"], optimizer)
        if state is not None:
            for options in optimizer.param_groups:
                options["lr"] = part7.warmup_lr(len(journal.losses), settings.lr, settings.warmup)

    def capture() -> State:
        if not begun:
            raise StudentCodeError("your train never took a step with an optimizer of torch's", "see part 7's text")
        tensors, groups = checkpoint.training_state(model, begun[0], generator)
        return tensors, {"groups": groups}

    held_out = torch.as_tensor(corpus.held_out[:_EVALUATED])
    journal.capture, journal.evaluated = capture, len(held_out)
    journal.evaluate = lambda: float(part7.perplexity(model, held_out, settings.context))
    with living_on(model, device):
        own.update(id(parameter) for parameter in model.parameters())
        hook = register_optimizer_step_pre_hook(before_step)
        try:
            part7.train(
                model,
                torch.as_tensor(corpus.train),
                journal.left,
                settings.batch,
                settings.context,
                settings.lr,
                warmup_steps=settings.warmup,
                generator=generator,
                on_step=lambda step, loss: journal.after_step(float(loss)),
            )
        finally:
            hook.remove()
