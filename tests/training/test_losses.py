"""The losses are the papers' own."""

import math

import torch

from heedful.training.losses import alignment_penalty, balancing_weights, classification_loss


def test_one_score_has_the_logistic_loss_of_equation_five():
    scores = torch.tensor([[2.0], [-1.0], [0.5]])
    labels = torch.tensor([1, 1, 0])
    by_hand = [math.log1p(math.exp(-margin)) for margin in (2.0, -1.0, -0.5)]
    assert math.isclose(float(classification_loss(scores, labels)), sum(by_hand) / 3, rel_tol=1e-6)


def test_a_huge_wrong_score_gives_a_finite_loss():
    assert float(classification_loss(torch.tensor([[-1e4]]), torch.tensor([1]))) == 1e4


def test_k_logits_have_the_cross_entropy():
    logits, labels = (
        torch.randn(5, 3, generator=torch.Generator().manual_seed(0)),
        torch.tensor([0, 2, 1, 1, 0]),
    )
    by_hand = -logits.log_softmax(1)[torch.arange(5), labels].mean()
    assert torch.isclose(classification_loss(logits, labels), by_hand)


def test_two_logits_and_their_difference_as_one_score_agree():
    logits, labels = (
        torch.randn(7, 2, generator=torch.Generator().manual_seed(1)),
        torch.tensor([0, 1, 1, 0, 1, 0, 0]),
    )
    score = logits[:, 1:] - logits[:, :1]
    assert torch.isclose(classification_loss(logits, labels), classification_loss(score, labels))


def test_the_positive_class_is_weighed_by_the_classes_ratio_and_the_mean_is_over_texts():
    labels = torch.tensor([0, 0, 0, 1])
    weights = balancing_weights(labels, 2)
    assert weights.tolist() == [1, 3]
    scores = torch.tensor([[0.3], [-1.0], [2.0], [0.7]])
    losses = [math.log1p(math.exp(-margin)) for margin in (-0.3, 1.0, -2.0, 0.7)]
    by_hand = (sum(losses[:3]) + 3 * losses[3]) / 4
    assert math.isclose(float(classification_loss(scores, labels, weights)), by_hand, rel_tol=1e-6)
    logits = torch.cat([-scores, scores], 1) / 2
    assert math.isclose(float(classification_loss(logits, labels, weights)), by_hand, rel_tol=1e-6)
    assert balancing_weights(torch.tensor([2, 0, 2]), 3).tolist() == [1, 1, 0.5]  # nobody is of class 1


def test_the_penalty_is_the_mean_absolute_alignment():
    assert float(alignment_penalty(torch.tensor([-3.0, 1.0]))) == 2.0
