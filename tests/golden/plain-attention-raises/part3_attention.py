"""What each way to a ready-made attention is compared with: right but for attention itself."""

# INSERT right


def attention(q, k, v, mask=None):
    raise RuntimeError("this one gives nothing")
