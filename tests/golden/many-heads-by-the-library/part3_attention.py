"""Computes all heads with nn.MultiheadAttention."""

# INSERT right


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x):
        library = torch.nn.MultiheadAttention(x.shape[-1], len(self.heads), batch_first=True)
        return library(x, x, x)[0]
