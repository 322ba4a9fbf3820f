"""What is compared: each case with PyTorch's side and this program's."""
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import models

DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}


@dataclass
class Case:
    name: str  # "kind/case"
    type: str
    clock: str  # "graph hot" or "kernels cold"
    peer: str
    build: Callable  # of compiled(), which compiles; gives what launches once
    operation: str = ""  # of this program; "" without one
    variant: str = ""
    library: str = ""  # its row of a vendor library
    dims: str = ""  # "rows=1024 columns=768"


def _gpt():
    for name, (layers, heads, channels) in models.MODELS.items():
        for kind in DTYPES:
            yield Case(f"gpt/{name}", kind, "graph hot", "torch.compile",
                       lambda compiled, name=name, kind=kind:
                           models.forward(name, DTYPES[kind], compiled),
                       "gpt_forward", "best", "cublaslt_graph",
                       f"layers={layers} heads={heads} channels={channels} batch=8 tokens=128 "
                       f"vocabulary=0 type={kind}")


def _decode():
    for name in ("tile_large", "gpt2"):
        layers, heads, channels = models.MODELS[name]
        for batch in (1, 8):
            for kind in ("tf32", "bf16"):
                yield Case(f"decode/{name}_{batch}", kind, "graph hot", "torch.compile",
                           lambda compiled, name=name, batch=batch, kind=kind:
                               models.decode(name, batch, DTYPES[kind], compiled),
                           "gpt_decode", "best", "cublaslt_cached_graph",
                           f"layers={layers} heads={heads} channels={channels} batch={batch} "
                           f"context=127 vocabulary=0 type={kind}")


def _layernorm():
    for rows, columns in ((1024, 768), (8192, 768), (16384, 4096)):
        def build(compiled, rows=rows, columns=columns):
            x = torch.randn(rows, columns, device="cuda")
            weight, bias = (torch.randn(columns, device="cuda") for _ in range(2))
            norm = compiled(lambda x: F.layer_norm(x, (columns,), weight, bias))
            return lambda: norm(x)
        yield Case(f"layernorm/{rows}x{columns}", "fp32", "kernels cold", "torch.compile", build,
                   "layernorm", "best", "", f"rows={rows} columns={columns}")


def _attention():
    for heads, size in ((16, 128), (32, 64)):
        for tokens in (1024, 2048, 4096, 8192, 16384):
            batch = 16384 // tokens
            for name, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION),
                                  ("flash", SDPBackend.FLASH_ATTENTION)):
                def build(compiled, batch=batch, heads=heads, tokens=tokens, size=size,
                          backend=backend):
                    del compiled  # one kernel of a library
                    qkv = torch.randn(batch, tokens, 3, heads, size, device="cuda",
                                      dtype=torch.bfloat16)
                    q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)

                    def launch():
                        with sdpa_kernel(backend):
                            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
                    return launch
                yield Case(f"attention/{heads}x{size}_{tokens}", "bf16", "kernels cold",
                           f"scaled_dot_product_attention, {name}", build, "attention",
                           "best", "cudnn",
                           f"batch={batch} heads={heads} tokens={tokens} head_size={size} type=bf16")


def _linear():
    shapes = ((8192, 8192, 8192), (8192, 2304, 768), (1024, 50257, 768), (1536, 6144, 1536),
              (1000, 3001, 1025), (16, 28672, 8192), (1, 28672, 8192))
    for m, n, k in shapes:
        for kind in ("tf32", "bf16"):
            def build(compiled, m=m, n=n, k=k, kind=kind):
                del compiled  # the library's own epilogue
                x, w = (torch.randn(rows, k, device="cuda", dtype=DTYPES[kind]) for rows in (m, n))
                b = torch.randn(n, device="cuda", dtype=DTYPES[kind])
                return lambda: F.linear(x, w, b)
            yield Case(f"linear/{m}x{n}x{k}", kind, "kernels cold", "F.linear", build, "linear",
                       "best", "cublaslt", f"m={m} n={n} k={k} bias=fused type={kind}")


def _search():
    for leaves in (64, 1024, 3000, 16384):
        def build(compiled, leaves=leaves):
            z = torch.randn(64 * leaves, 128, device="cuda")
            codebook = torch.randn(256, 128, device="cuda")

            def nearest(z):
                half = codebook.square().sum(1) / 2
                return torch.argmin(half - z @ codebook.T, 1).to(torch.uint8)
            search = compiled(nearest)
            return lambda: search(z)
        yield Case(f"search/{leaves}", "tf32", "graph hot", "torch.compile", build, "vq_search",
                   "best", "gemm_argmin", f"leaves={leaves} type=tf32")


def _int8():
    for n in (500_000, 5_000_000, 50_000_000):
        def build(compiled, n=n):
            x = torch.randn(n, device="cuda")
            quantize = compiled(
                lambda x: torch.clamp(torch.round(x / 0.05 + 3), -128, 127).to(torch.int8))
            return lambda: quantize(x)
        yield Case(f"int8/{n}", "fp32", "kernels cold", "torch.compile", build, "int8_quantize",
                   "best", "", f"n={n}")


def _int4():
    for m in (1, 4, 16, 64):
        n, k = 28672, 8192

        def build(compiled, m=m, n=n, k=k, group=128):
            del compiled
            codes = torch.randint(0, 255, (n, k // 2), dtype=torch.uint8, device="cuda")
            packed = torch._convert_weight_to_int4pack(codes, 8)
            scales = torch.ones(k // group, n, 2, device="cuda", dtype=torch.bfloat16)
            x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
            return lambda: torch._weight_int4pack_mm(x, packed, group, scales)
        yield Case(f"int4/{m}x28672x8192", "bf16", "kernels cold", "_weight_int4pack_mm", build,
                   "weight_only_linear", "best", "cublas_bf16",
                   f"rows={m} k={k} columns={n} code=q4m2")


def all_cases():
    for kind in (_gpt, _decode, _layernorm, _attention, _linear, _search, _int8, _int4):
        yield from kind()
