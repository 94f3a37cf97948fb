"""Computes all heads with F.multi_head_attention_forward."""

# INSERT right


ready_made = torch.nn.functional.multi_head_attention_forward


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x):
        T, width = x.shape[1:]
        weight = torch.cat([torch.cat([getattr(head, name).weight for head in self.heads]) for name in "qkv"])
        bias = torch.zeros(3 * width, dtype=x.dtype)
        if self.heads[0].q.bias is not None:
            bias = torch.cat([torch.cat([getattr(head, name).bias for head in self.heads]) for name in "qkv"])
        x = x.transpose(0, 1)
        output, _ = ready_made(
            x, x, x, width, len(self.heads), weight, bias, None, None, False, 0.0, self.proj.weight, self.proj.bias,
            attn_mask=torch.ones(T, T, dtype=torch.bool).triu(1), need_weights=True,
        )  # fmt: skip
        return output.transpose(0, 1)
