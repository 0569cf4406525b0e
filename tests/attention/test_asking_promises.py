"""One catalogue, one set of promises: what holds for the mechanisms that are called in their own way."""

import pytest
import torch
from asking_catalogue import CATALOGUE, LENGTHS
from exporting import NOT_BY_TORCH_2_6
from torch.export import Dim, export

every = pytest.mark.parametrize("case", CATALOGUE, ids=str)


def tensors(result):
    return {name: value for name, value in vars(result).items() if isinstance(value, torch.Tensor)}


@every
def test_weights_sum_to_one_over_real_items_and_are_exactly_zero_elsewhere(case):
    inputs = case.inputs()
    weights = case.build()(**inputs).weights
    real = inputs["mask"] if weights.dim() == 2 else inputs["mask"][:, None].expand_as(weights)
    assert (weights >= 0).all()
    assert (weights[~real] == 0).all()
    torch.testing.assert_close(weights.sum(-1), real.any(-1).float())


@every
def test_an_instance_alone_and_unpadded_equals_itself_in_company(case):
    module, inputs = case.build(), case.inputs()
    together = tensors(module(**inputs))
    for row, length in enumerate(LENGTHS[:2]):
        alone = tensors(module(**case.cut(inputs, row, length)))
        for name, value in alone.items():
            company = together[name][row]
            if name in ("weights", "scores"):
                company = company[..., :length]
            torch.testing.assert_close(value[0], company)


@every
def test_what_stands_in_the_padding_changes_nothing(case):
    module, inputs = case.build(), case.inputs()
    before = module(**inputs)
    for name, axis in case.axes().items():
        if name != "mask":
            beyond = inputs["mask"].logical_not().reshape(len(LENGTHS), *(1,) * (axis - 1), -1)
            beyond = beyond.reshape(*beyond.shape, *(1,) * (inputs[name].dim() - axis - 1))
            inputs[name] = inputs[name].masked_fill(beyond, 1e4)
    after = tensors(module(**inputs))
    for name, value in tensors(before).items():
        if name != "scores":
            torch.testing.assert_close(after[name], value)


@every
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_give_finite_weights_and_gradients(case, size):
    module, inputs = case.build(), case.inputs()
    quiet = module(**inputs).scores.abs().max()
    case.amplify(module, size)
    floats = [tensor.requires_grad_() for tensor in inputs.values() if tensor.is_floating_point()]
    result = module(**inputs)
    assert result.scores.abs().max() > size * quiet / 100
    assert result.weights.isfinite().all()
    torch.testing.assert_close(result.weights[:2].sum(-1), torch.ones_like(result.weights[:2].sum(-1)))
    result.weights.square().sum().backward()
    for tensor in (*floats, *module.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()


@every
def test_gradients_agree_with_finite_differences(case):
    module, inputs = case.build().double(), case.inputs(seed=2)
    names = [name for name, tensor in inputs.items() if tensor.is_floating_point()]

    def results(*given):
        result = tensors(module(**(inputs | dict(zip(names, given, strict=True)))))
        return tuple(value for name, value in result.items() if name != "scores")

    assert torch.autograd.gradcheck(
        results, tuple(inputs[name].double().requires_grad_() for name in names), fast_mode=True
    )


@NOT_BY_TORCH_2_6
@every
def test_export_with_free_batch_and_items_changes_no_result(case):
    module, inputs = case.build(), case.inputs()
    batch, items, axes = Dim("batch"), Dim("items"), case.axes()
    shapes = {name: {0: batch} | ({axes[name]: items} if name in axes else {}) for name in inputs}
    program = export(module, (), inputs, dynamic_shapes=shapes).module()
    for lengths, count in (((11, 2, 0, 5, 1), 11), ((3, 3), 3)):
        other = case.inputs(seed=4, lengths=lengths, items=count)
        ours, theirs = module(**other), program(**other)
        assert type(theirs) is type(ours)
        for name, value in tensors(ours).items():
            torch.testing.assert_close(getattr(theirs, name), value, atol=0, rtol=0)
