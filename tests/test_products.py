import pytest
import torch

from translator.hardware import has_fast_bfloat16, has_fast_int8
from translator.products import FORMATS, Affine, Float32Product, Int8Product, joined

CPU = torch.device("cpu")
SHAPES = [(5, 16, 64), (5, 64, 16), (1, 16, 64), (1, 64, 16), (70, 32, 32)]


@pytest.fixture(params=SHAPES, ids=str)
def case(request):
    torch.manual_seed(3)
    rows, n_in, n_out = request.param
    return torch.randn(rows, n_in), torch.randn(n_out, n_in) / n_in**0.5, torch.randn(n_out)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_equals_a_linear_layer_to_its_rounding(case, precision):
    x, weight, bias = case
    plus = torch.randn(len(x), len(bias))
    before = [x.clone(), plus.clone()]
    product, plain = FORMATS[precision](weight, bias), FORMATS[precision](weight, None)
    expected = x @ weight.T + bias
    within = {"fp32": 1e-5, "bf16": 0.05, "int8": 0.1}[precision]
    for found, wanted in (
        (product(x), expected),
        (plain(x), x @ weight.T),
        (product(x, relu=True), expected.relu()),
        (product(x, plus=plus), expected + plus),
    ):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, wanted, atol=within, rtol=within)
    torch.testing.assert_close([x, plus], before, atol=0, rtol=0)  # nothing was written into


def test_without_packed_weights_the_same(case, monkeypatch):
    x, weight, bias = case
    monkeypatch.setattr("translator.products._packed", lambda _: None)
    torch.testing.assert_close(Float32Product(weight, bias)(x), x @ weight.T + bias)
    found = FORMATS["bf16"](weight, bias)(x)
    torch.testing.assert_close(found, x @ weight.T + bias, atol=0.05, rtol=0.05)


def test_a_row_in_whole_numbers_does_not_depend_on_its_neighbours():
    torch.manual_seed(0)
    x, product = torch.randn(6, 32), Int8Product(torch.randn(40, 32), torch.randn(40))
    x[3] *= 1000  # a neighbour that would spoil a common scale
    together = product(x)
    for row in range(6):
        torch.testing.assert_close(product(x[row : row + 1])[0], together[row], atol=0, rtol=0)
    assert product(torch.zeros(1, 32)).isfinite().all()


def test_joined_layers_stand_side_by_side():
    layers = [torch.nn.Linear(8, 4), torch.nn.Linear(8, 12)]
    x = torch.randn(3, 8)
    found = joined([Affine.of(layers[0], 0.5), Affine.of(layers[1])], "fp32")(x)
    with torch.no_grad():
        expected = torch.cat((layers[0](x) / 2, layers[1](x)), dim=1)
        torch.testing.assert_close(found, expected)
        layers[0].weight.zero_()
    torch.testing.assert_close(joined([Affine.of(layers[1])], "fp32")(x), expected[:, 4:])


def test_instructions_are_those_of_the_processor(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True}, raising=False)
    assert not has_fast_int8(CPU)
    assert not has_fast_bfloat16(CPU)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_vnni": True})
    assert has_fast_int8(CPU)
    assert not has_fast_int8(torch.device("meta"))
