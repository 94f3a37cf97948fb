"""``gpt-hw train`` and ``gpt-hw sample``: a language model from the student's own parts, trained and asked to write.

corpus (text to tokens and back) ─▶ journal (losses, checkpoints, stop and go on) ⇄ by_torch or by_numpy (the student's
model and how it is trained) ─▶ train, sample.
"""

from autograder.labs.lm.corpus import LANGUAGES, SHAKESPEARE
from autograder.labs.lm.sample import sample
from autograder.labs.lm.settings import ModelSettings, Trained
from autograder.labs.lm.train import train

__all__ = ["LANGUAGES", "SHAKESPEARE", "ModelSettings", "Trained", "sample", "train"]
