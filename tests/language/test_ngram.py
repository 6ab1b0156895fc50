"""The n-gram memory against plain Python and slow float64 versions."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from charm.language.config import NgramConfig
from charm.language.gpt import GPT
from charm.language.ngram import ShortConvolution, hash_multipliers, table_sizes
from tests.toy.language import MEMORIES, TOY_GPT, VOCAB, canonical, slow_memory


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


@pytest.mark.parametrize(
    ("times", "first", "last", "total"),
    [
        (5, 163_841, 164_191, 5_248_160),
        (10, 327_689, 328_061, 10_491_928),
        (20, 655_373, 655_807, 20_978_372),
        (40, 1_310_723, 1_311_173, 41_950_592),
    ],
)
def test_table_sizes_are_distinct_primes(times: int, first: int, last: int, total: int) -> None:
    sizes = table_sizes(NgramConfig("engram", times * 32_768), 2)
    assert sizes.shape == (2, 2, 8)
    assert (sizes.flat[0], sizes.flat[-1], sizes.sum()) == (first, last, total)
    assert len(set(sizes.flat)) == 32
    assert (np.diff(sizes.flatten()) > 0).all()
    assert all(is_prime(int(size)) for size in sizes.flat)


def test_a_prime_number_of_rows_is_the_first_size() -> None:
    assert table_sizes(NgramConfig("engram", 53, heads=2), 1).tolist() == [[[53, 59], [61, 67]]]


def test_the_hash_is_that_of_plain_integers() -> None:
    """Python's integers cannot overflow; positions before the row are BOS."""
    known, bos = canonical(), 7
    model = GPT(TOY_GPT, MEMORIES["engram"], 0, known, bos)
    sizes = table_sizes(MEMORIES["engram"], 2)
    ids_BT = torch.randint(0, VOCAB, (3, 11), generator=torch.Generator().manual_seed(0))
    for module, (memory, layer) in enumerate(zip(model.ngram_memories(), (1, 2), strict=True)):
        assert memory.tables is not None
        rng = np.random.default_rng(10007 * layer)
        bound = ((2**63 - 1) // (int(known.max()) + 1)) // 2
        m = [2 * int(u) + 1 for u in rng.integers(0, bound, size=3)]
        assert m == hash_multipliers(layer, int(known.max()) + 1).tolist()
        assert max(m) * int(known.max()) < 2**63
        found = memory.tables.addresses(ids_BT)
        for b in range(3):
            for t in range(11):
                c = [int(known[int(ids_BT[b, t - back]) if t >= back else bos]) for back in range(3)]
                two = (c[0] * m[0]) ^ (c[1] * m[1])
                hashes = [two, two ^ (c[2] * m[2])]
                flat = [size for order in sizes[module] for size in order]
                expected = [hashes[n // 8] % size + sum(flat[:n]) for n, size in enumerate(flat)]
                assert found[b, t].tolist() == expected


def test_canonically_equal_ngrams_read_the_same_rows() -> None:
    known = np.arange(VOCAB) // 2  # tokens 2n and 2n + 1 are one
    model = GPT(TOY_GPT, MEMORIES["engram"], 0, known, 0)
    tables = model.ngram_memories()[0].tables
    assert tables is not None
    ids = torch.randint(0, VOCAB // 2 - 1, (2, 9)) * 2
    assert torch.equal(tables(ids), tables(ids + 1))
    assert not torch.equal(tables(ids), tables(ids + 2))


@pytest.mark.parametrize("name", [name for name in MEMORIES if name != "stock"])
def test_the_memory_follows_the_equations(name: str) -> None:
    torch.manual_seed(1)
    model = GPT(TOY_GPT, MEMORIES[name], 3, canonical(), 5)
    memory = model.ngram_memories()[0].double()
    with torch.no_grad():
        memory.value.weight.normal_(0, 0.3)
        memory.convolution.weight.normal_(0, 0.5)
    ids = torch.randint(0, VOCAB, (2, 13))
    x = torch.randn(2, 13, TOY_GPT.model_width, dtype=torch.float64)
    embedding = model.embedding.weight.detach().double()
    read = None if memory.tables is None else memory.tables(ids)
    found = memory(x, read, embedding[ids])
    torch.testing.assert_close(found, slow_memory(memory, x, ids, embedding), rtol=1e-9, atol=1e-9)


def test_the_short_convolution_is_torchs() -> None:
    torch.manual_seed(2)
    layer = ShortConvolution(6)
    with torch.no_grad():
        layer.weight.normal_()
    u = torch.randn(3, 20, 6)
    normed = F.rms_norm(u, (6,)).transpose(1, 2)
    kernel = layer.weight.detach().flip(-1).unsqueeze(1)  # torch's first tap is the earliest token
    expected = F.conv1d(F.pad(normed, (9, 0)), kernel, dilation=3, groups=6).transpose(1, 2)
    torch.testing.assert_close(layer(u), u + F.silu(expected))


def test_only_rows_that_were_read_get_gradients() -> None:
    for sparse in (False, True):
        model = GPT(TOY_GPT, MEMORIES["cose"], 0, canonical(), 0)
        with torch.no_grad():
            for memory in model.ngram_memories():
                memory.value.weight.normal_(0, 0.1)
        ids = torch.randint(0, VOCAB, (2, 24))
        for rows in model.ngram_tables():
            rows.sparse = sparse
        model(ids, ids).sum().backward()
        for memory, rows in zip(model.ngram_memories(), model.ngram_tables(), strict=True):
            assert memory.tables is not None
            gradient = rows.weight.grad
            assert gradient is not None
            assert gradient.is_sparse == sparse
            touched = set(memory.tables.addresses(ids).flatten().tolist())
            moved = set(gradient.to_dense().abs().sum(-1).nonzero().flatten().tolist())
            assert moved <= touched
            assert len(moved) > 0.9 * len(touched)
            assert len(touched) < len(rows.weight)


def test_composition_sends_no_gradient_to_the_token_embeddings() -> None:
    """What the composer is given is detached from the table."""
    model = GPT(TOY_GPT, MEMORIES["composition only"], 0, canonical(), 0)
    memory = model.ngram_memories()[0]
    with torch.no_grad():
        memory.value.weight.normal_(0, 0.1)
    ids = torch.randint(0, VOCAB, (1, 5))
    seen: list[bool] = []
    hook = memory.register_forward_pre_hook(lambda module, args: seen.append(args[2].requires_grad))
    model(ids, ids)
    hook.remove()
    assert seen == [False]
    assert model.embedding(ids).requires_grad
