"""`memory` on bAbI: what is read from the file, what is needed, and what leaving out a fact shows."""

import pytest
import torch
from made_data import write_babi, write_table
from matplotlib.figure import Figure

from heedful.gallery.babi import read_babi
from heedful.gallery.learning import parameters_of
from heedful.gallery.needed_facts import read_attention
from heedful.gallery.real_memory import BUDGETS, REAL, Asker, Averager, learn_task, placed


@pytest.fixture
def folder(tmp_path):
    write_babi(tmp_path)
    return tmp_path


def test_the_needed_fact_names_person_and_answer(folder):
    babi = read_babi(folder, 1)
    assert len(babi.train) == len(babi.test) == 300
    for part in (babi.train, babi.test):
        assert part.support.sum(-1).eq(1).all()
        for row in range(0, len(part), 17):
            fact = babi.texts[int(part.facts[row][part.support[row]])]
            who = babi.texts[int(part.questions[row])].split()[-1].strip("?")
            assert fact.startswith(who)
            assert babi.words[int(part.answers[row])] in fact


def test_facts_stand_at_the_end_and_the_newest_are_kept(tmp_path):
    rows = [(1, "train", "a", line, f"fact number{line}.", "", "") for line in range(1, 61)]
    rows += [(1, "train", "a", 61, "Where?", "number60", "60 3"), (1, "train", "b", 1, "Short.", "", "")]
    rows += [(1, "train", "b", 2, "Where?", "unheard", "1")]
    rows += [(1, "test", "c", 1, "Short.", "", ""), (1, "test", "c", 2, "Where?", "elsewhere", "1")]
    header = ("task", "split", "story", "line", "text", "answer", "supports")
    write_table(tmp_path / "babi_1k.tsv.gz", header, rows, separator="\t")
    babi = read_babi(tmp_path, 1)
    told = [babi.texts[fact] for fact in babi.train.facts[0]]
    assert told == [f"fact number{line}." for line in range(11, 61)]
    assert babi.train.support[0].nonzero().flatten().tolist() == [49]  # the other was dropped
    assert babi.train.mask[1].tolist() == [False] * 49 + [True]
    assert int(babi.test.answers[0]) == -1  # never given in training: it cannot be right


def test_places_of_words_count_and_padding_does_not():
    table = torch.nn.Embedding(9, 4)
    ids = torch.tensor([[3, 5, 0, 0], [5, 3, 0, 0]])
    assert not torch.allclose(*placed(ids, table))
    assert torch.allclose(placed(ids, table), placed(ids[:, :2], table))
    by_hand = sum(
        ((1 - j / 2) - torch.arange(1, 5) / 4 * (1 - 2 * j / 2)) * table.weight[word]
        for j, word in ((1, 3), (2, 5))
    )
    assert torch.allclose(placed(ids, table)[0], by_hand, atol=1e-6)


def test_a_question_has_the_same_answer_alone_and_in_company(folder):
    babi = read_babi(folder, 1)
    asker = Asker(babi.sentences, len(babi.words), babi.train.facts.shape[1], hops=3).eval()
    logits, weights = asker(babi.test)
    alone = asker(babi.test.rows(torch.tensor([5])))
    assert torch.allclose(logits[5], alone[0][0], atol=1e-6)
    assert torch.allclose(weights[5], alone[1][0], atol=1e-6)
    assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-5)


def test_a_memory_that_reads_what_is_needed_is_told_from_one_that_reads_the_oldest(folder):
    asked = read_babi(folder, 1).test

    class Reader(torch.nn.Module):
        def __init__(self, needed):
            super().__init__()
            self.needed = needed

        def forward(self, asked, *, mask=None):
            oldest = torch.nn.functional.one_hot(asked.mask.float().argmax(-1), asked.mask.shape[1]).bool()
            chosen = asked.support if self.needed else oldest
            left = chosen & (asked.mask if mask is None else mask)
            logits = torch.stack([left.any(-1).float(), torch.full((len(asked),), 0.5)], -1)
            return logits, chosen.float().unsqueeze(1)

    right, wrong = (read_attention(Reader(needed), asked) for needed in (True, False))
    assert right.hops == [1.0]
    assert (right.found, right.most_read, right.leave_one_out, right.changed) == (1, 1, 1, 1)
    assert right.changed_by_any == pytest.approx(right.uniform)
    assert wrong.found < 0.5
    assert wrong.hops[0] == wrong.most_read == wrong.leave_one_out
    assert wrong.changed == 1  # it does rest on what it reads, which is the wrong fact


@pytest.mark.slow
def test_the_small_size_learns_on_a_file_of_the_same_form_and_is_drawn(folder):
    outcome = REAL.train(0, "small", folder, "cpu")
    assert outcome.figure < outcome.yardstick - 0.2
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.02
    assert outcome.table["task 1: weight on needed facts, hop 3"] >= 0
    REAL.draw([outcome, outcome], Figure())


def test_the_mean_has_as_many_parameters(folder):
    babi = read_babi(folder, 1)
    from dataclasses import replace

    budget = replace(BUDGETS["small"], epochs=1, batch=300)
    learnt = learn_task(babi, budget, seed=0, device="cpu")
    assert isinstance(learnt.mean, Averager)
    assert abs(parameters_of(learnt.mean) / parameters_of(learnt.memory) - 1) < 0.02
