"""Changes every process-wide setting that torch and numpy have, beside right work."""

import random
import warnings

import numpy
import torch

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(True)
torch.set_printoptions(profile="full")
torch.manual_seed(1)
random.seed(1)
numpy.seterr(all="raise")
warnings.simplefilter("error")

# INSERT right
