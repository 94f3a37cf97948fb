"""What each way to a ready-made attention is compared with: right but for attention itself."""

# INSERT right


def attention(q, k, v, mask=None):
    if mask is not None and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
    raise RuntimeError("this one gives nothing")
