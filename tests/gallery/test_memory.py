"""Gallery `memory`: stories can be answered from the facts they name, and hops beat the mean of all facts."""

import pytest
import torch

from heedful.gallery import compare_entry
from heedful.gallery.memory import ENTRY
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
    comparison = compare_entry(ENTRY, size="small")
    assert comparison.passes
    assert comparison.mean("two facts") > comparison.mean("two facts, a single hop") + 0.3
    first = comparison.outcomes[0]
    assert abs(first.parameters / first.baseline_parameters - 1) < 0.03
    again = ENTRY.train(0, "small")
    assert (again.figure, again.baseline) == (first.figure, first.baseline)
