"""Encoders against PyTorch's own packed sequences, plain sums, and themselves without padding."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from heedful.models.encoders import (
    AffineEncoder,
    AverageEncoder,
    ConvolutionEncoder,
    NoEncoder,
    RecurrentEncoder,
)
from heedful.models.level import start_like_serrano_smith, start_like_sun_lu
from heedful.models.self_attention import SelfAttentionEncoder

B, T, E = 5, 11, 7
LENGTHS = torch.tensor([11, 3, 1, 7, 5])
MASK = torch.arange(T) < LENGTHS[:, None]

ENCODERS: dict[str, Callable[[], nn.Module]] = {
    "none": lambda: NoEncoder(E),
    "affine": lambda: AffineEncoder(E, 13),
    "average": lambda: AverageEncoder(E, 13),
    "lstm": lambda: RecurrentEncoder(nn.LSTM, E, 13, both=False),
    "bilstm": lambda: RecurrentEncoder(nn.LSTM, E, 26, both=True),
    "gru": lambda: RecurrentEncoder(nn.GRU, E, 13, both=False),
    "bigru": lambda: RecurrentEncoder(nn.GRU, E, 26, both=True),
    "conv": lambda: ConvolutionEncoder(E, 34, (3, 5)),
    "self-attention": lambda: SelfAttentionEncoder(E, 12, 4),
    "conv 1-3-5-7": lambda: ConvolutionEncoder(E, 52, (1, 3, 5, 7)),
}


@pytest.fixture
def embedded() -> Tensor:
    return torch.randn(B, T, E, generator=torch.Generator().manual_seed(0))


@pytest.fixture(params=ENCODERS)
def encoder(request: pytest.FixtureRequest) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return ENCODERS[request.param]()


def test_the_states_have_the_width_that_is_said(encoder: nn.Module, embedded: Tensor) -> None:
    assert encoder(embedded, MASK).shape == (B, T, encoder.width)


def test_a_text_alone_has_the_states_it_has_in_company(encoder: nn.Module, embedded: Tensor) -> None:
    together = encoder(embedded, MASK)
    for row, length in enumerate(LENGTHS):
        alone = encoder(embedded[row : row + 1, :length], MASK[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], alone[0], atol=1e-6, rtol=0)


def test_what_stands_in_the_padding_does_not_matter(encoder: nn.Module, embedded: Tensor) -> None:
    noise = torch.where(MASK[..., None], embedded, 1000.0)
    torch.testing.assert_close(encoder(noise, MASK)[MASK], encoder(embedded, MASK)[MASK])


def test_no_gradient_reaches_the_padding(encoder: nn.Module, embedded: Tensor) -> None:
    embedded.requires_grad_()
    encoder(embedded, MASK)[MASK].square().sum().backward()
    assert embedded.grad is not None
    assert (embedded.grad[~MASK] == 0).all()
    assert (embedded.grad[MASK] != 0).any(-1).all()


def test_it_is_said_truly_whether_tokens_are_mixed(encoder: nn.Module, embedded: Tensor) -> None:
    changed = embedded.clone()
    changed[0, 4] += 1
    moved = (encoder(changed, MASK) - encoder(embedded, MASK))[0].abs().amax(-1) > 0
    others = torch.arange(T) != 4
    assert moved[4]
    assert bool(moved[others].any()) == encoder.mixes_tokens


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_both_directions_equal_a_packed_bidirectional_pass(
    kind: type[nn.LSTM | nn.GRU], embedded: Tensor
) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        ours = RecurrentEncoder(kind, E, 26, both=True)
        theirs = kind(E, 13, batch_first=True, bidirectional=True)
    weights = {}
    for name, suffix in (("onward", ""), ("back", "_reverse")):
        for key, value in ours.passes[name].state_dict().items():
            weights[key + suffix] = value
    theirs.load_state_dict(weights)
    packed, _ = theirs(pack_padded_sequence(embedded, LENGTHS, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(packed, batch_first=True, total_length=T)
    torch.testing.assert_close(ours(embedded, MASK)[MASK], expected[MASK], atol=2e-7, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_padding_leaves_no_trace_in_states_nor_in_gradients(
    kind: type[nn.LSTM | nn.GRU], dtype: torch.dtype
) -> None:
    """Read backwards, padding comes first: whatever stands there, states and gradients of words stay."""
    torch.manual_seed(0)
    encoder = RecurrentEncoder(kind, E, 26, both=True).to(dtype)
    words, pull = torch.randn(B, T, E, dtype=dtype), torch.randn(B, T, 26, dtype=dtype)
    found = []
    for noise in (0.0, 1000.0):
        given = torch.where(
            MASK[..., None], words, noise * torch.randn(B, T, E, dtype=dtype)
        ).requires_grad_()
        states = encoder(given, MASK)
        gradients = torch.autograd.grad(
            (states * pull)[MASK].sum(), [given, *encoder.passes["back"].parameters()]
        )
        assert (gradients[0][~MASK] == 0).all()
        found.append([states[MASK], *gradients])
    for quiet, noisy in zip(*found, strict=True):
        assert torch.equal(quiet, noisy)


def test_the_affine_encoder_is_a_matrix_alone() -> None:
    encoder = AffineEncoder(2, 3)
    encoder.project.weight.data = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    states = encoder(torch.tensor([[[1.0, -1.0]]]), torch.tensor([[True]]))
    assert states.tolist() == [[[-1.0, -1.0, -1.0]]]
    assert [name for name, _ in encoder.named_parameters()] == ["project.weight"]


def test_a_convolution_sums_over_the_neighbours_of_each_word() -> None:
    encoder = ConvolutionEncoder(1, 2, (3, 5))
    for convolution in encoder.convolutions:
        convolution.weight.data.fill_(1)
        convolution.bias.data.zero_()
    numbers = torch.tensor([[[1.0], [2.0], [3.0], [4.0], [99.0]]])
    states = encoder(numbers, torch.tensor([[True, True, True, True, False]]))
    assert states[0, :4].tolist() == [[3.0, 6.0], [6.0, 10.0], [9.0, 10.0], [7.0, 9.0]]
    assert (encoder(-numbers, torch.ones(1, 5, dtype=torch.bool)) == 0).all()  # ReLU


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_serrano_and_smiths_cells_start_orthogonal_and_keep_their_state(kind: type[nn.LSTM | nn.GRU]) -> None:
    encoder = RecurrentEncoder(kind, E, 26, both=True)
    start_like_serrano_smith([encoder])
    for cell in encoder.passes.values():
        for gate in cell.weight_hh_l0.split(13):
            torch.testing.assert_close(gate @ gate.T, torch.eye(13), atol=1e-5, rtol=0)
        bound = (6 / (E + 13)) ** 0.5
        assert 0.9 * bound < cell.weight_ih_l0.abs().max() <= bound
        bias = cell.bias_ih_l0 + cell.bias_hh_l0
        assert (bias[13:26] == 1).all()
        assert bias.sum() == 13


def test_sun_and_lus_cells_start_orthogonal_with_their_gates_stacked() -> None:
    encoder = RecurrentEncoder(nn.LSTM, E, 26, both=True)
    start_like_sun_lu([encoder])
    for cell in encoder.passes.values():
        for weight in (cell.weight_ih_l0, cell.weight_hh_l0):
            torch.testing.assert_close(weight.T @ weight, torch.eye(weight.shape[1]), atol=1e-5, rtol=0)


def test_an_lstm_with_this_start_forgets_less_than_pytorchs() -> None:
    """The gate that got the bias of 1 keeps state: without input, σ(1) of the cell survives, not σ(0)."""
    encoder = RecurrentEncoder(nn.LSTM, E, 13, both=False)
    start_like_serrano_smith([encoder])
    cell = encoder.passes["onward"]
    for name, value in cell.named_parameters():
        if name.startswith("weight"):
            value.data.zero_()
    _, (_, kept) = cell(torch.zeros(1, 1, E), (torch.zeros(1, 1, 13), torch.ones(1, 1, 13)))
    torch.testing.assert_close(kept, torch.full((1, 1, 13), 1.0).sigmoid())


def test_a_gru_with_this_start_keeps_its_state() -> None:
    encoder = RecurrentEncoder(nn.GRU, E, 13, both=False)
    start_like_serrano_smith([encoder])
    cell = encoder.passes["onward"]
    for name, value in cell.named_parameters():
        if name.startswith("weight"):
            value.data.zero_()
    _, kept = cell(torch.zeros(1, 1, E), torch.ones(1, 1, 13))
    torch.testing.assert_close(kept, torch.full((1, 1, 13), 1.0).sigmoid())
