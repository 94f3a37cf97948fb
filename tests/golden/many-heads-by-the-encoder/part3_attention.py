"""Computes all heads with the encoder layer's own operator."""

# INSERT right


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x):
        weight = torch.cat([torch.cat([getattr(head, name).weight for head in self.heads]) for name in "qkv"])
        bias, width = torch.zeros(3 * x.shape[-1], dtype=x.dtype), x.shape[-1]
        return torch._native_multi_head_attention(
            x, x, x, width, len(self.heads), weight, bias, self.proj.weight, self.proj.bias
        )[0]
