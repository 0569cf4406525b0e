"""Gallery `memory`: stories can be answered from the facts they name, and hops beat the mean of all facts."""

import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.memory import ENTRY, RATE, WIDTH, Asker, fit
from heedful.gallery.seeded import seeded
from heedful.gallery.stories import GOING, PEOPLE, PLACES, THINGS, WORDS, tell_stories


def by_reading(stories, row):
    """The answer, found by following the story from its beginning."""
    place, holder = {}, {}
    for who, does, what in stories.facts[row].tolist():
        if WORDS[does] in GOING:
            place[who] = WORDS[what]
        elif who:
            holder[what] = who
    asked = int(stories.questions[row])
    return place[holder[asked] if WORDS[asked] in THINGS else asked]


def test_the_answer_is_where_the_story_leads():
    stories = tell_stories(200, seed=3)
    assert [PLACES[answer] for answer in stories.answers] == [by_reading(stories, row) for row in range(200)]


def test_every_second_question_needs_two_facts_and_they_carry_the_answer():
    stories = tell_stories(50, seed=5)
    for row in range(50):
        first, second = stories.support[row].tolist()
        assert (second >= 0) == (row % 2 == 1)
        asked, two = WORDS[int(stories.questions[row])], row % 2 == 1
        assert asked in (THINGS if two else PEOPLE)
        assert asked in stories.fact(row, first)
        assert PLACES[stories.answers[row]] in stories.fact(row, second if two else first)


def test_stories_have_the_lengths_asked_for_and_end_in_nothing():
    stories = tell_stories(300, seed=7, shortest=3, longest=5)
    lengths = (stories.facts[..., 0] > 0).sum(-1)
    assert set(lengths.tolist()) == {3, 4, 5}
    assert stories.facts.shape == (300, 5, 3)
    beyond = torch.arange(5) >= lengths[:, None]
    assert (stories.facts[beyond] == 0).all()


def test_one_seed_tells_the_same_stories_and_another_tells_others():
    assert tell_stories(20, seed=1).facts.equal(tell_stories(20, seed=1).facts)
    assert not tell_stories(20, seed=1).facts.equal(tell_stories(20, seed=2).facts)


@pytest.mark.slow
def test_three_hops_beat_the_mean_and_a_single_hop_lacks_the_second_fact():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > max(0.9, outcome.baseline + 0.3)
    assert outcome.table["two facts"] > outcome.table["two facts, a single hop"] + 0.3
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.03
    ENTRY.draw(outcome, Figure())


def test_one_seed_learns_the_same_twice():
    stories, learnt = tell_stories(100, seed=0), []
    for _ in range(2):
        with seeded(3):
            asker = Asker(WIDTH, hops=3)
            fit(asker, stories, steps=3, rate=RATE)
        learnt.append(asker(stories)[0])
    assert learnt[0].equal(learnt[1])
