"""The layers of a GPT in PyTorch, as operations gpt_forward and gpt_decode have them: no embedding
and no vocabulary."""
import torch
import torch.nn.functional as F
from torch import nn

# name: layers, heads, channels
MODELS = {
    "nano": (3, 3, 48),
    "micro": (4, 4, 128),
    "mini": (6, 6, 192),
    "tile_small": (4, 4, 64),
    "tile_medium": (6, 4, 128),
    "tile_large": (8, 8, 256),
    "gpt2": (12, 12, 768),
}


class Block(nn.Module):
    def __init__(self, heads, channels):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.qkv, self.proj = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.fc, self.fc2 = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)

    def split(self, x):
        """q, k, v as [batch, heads, tokens, size]."""
        batch, tokens, channels = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, channels // self.heads)
        return parts.permute(2, 0, 3, 1, 4).unbind(0)

    def finish(self, x, y):
        x = x + self.proj(y.transpose(1, 2).reshape(x.shape))
        return x + self.fc2(F.gelu(self.fc(self.norm2(x)), approximate="tanh"))

    def forward(self, x):
        q, k, v = self.split(x)
        return self.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def decode(self, x, keys, values):
        """One token, whose key and value go to the last place of those kept."""
        q, k, v = self.split(x)
        keys[:, :, -1:], values[:, :, -1:] = k, v
        return self.finish(x, F.scaled_dot_product_attention(q, keys, values))


class Layers(nn.Module):
    def __init__(self, name):
        super().__init__()
        layers, heads, channels = MODELS[name]
        self.blocks = nn.ModuleList(Block(heads, channels) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Decoder(Layers):
    def forward(self, x, keys, values):
        for i, block in enumerate(self.blocks):
            x = block.decode(x, keys[i], values[i])
        return x


def forward(name, dtype, compiled):
    """The layers over 8 x 128 tokens."""
    model = compiled(Layers(name).cuda().to(dtype))
    x = torch.randn(8, 128, MODELS[name][2], device="cuda", dtype=dtype)
    return lambda: model(x)


def decode(name, batch, dtype, compiled):
    """One token of each sequence behind 127, whose keys and values are kept."""
    layers, heads, channels = MODELS[name]
    model = compiled(Decoder(name).cuda().to(dtype))
    keys, values = (torch.randn(layers, batch, heads, 128, channels // heads, device="cuda",
                                dtype=dtype) for _ in range(2))
    x = torch.randn(batch, 1, channels, device="cuda", dtype=dtype)
    return lambda: model(x, keys, values)
