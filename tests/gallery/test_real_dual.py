"""`dual` on reviews with ratings: no page holds the review whose rating is told, nor one of dev or test."""

import pytest
import torch
from made_data import write_reviews
from matplotlib.figure import Figure

from heedful.data.vocabulary import PADDING_ID
from heedful.gallery.learning import parameters_of
from heedful.gallery.rated_reviews import REVIEWS, WORDS, read_reviews
from heedful.gallery.real_dual import REAL, biases_alone, build, shrunk


@pytest.fixture
def reviews(tmp_path):
    write_reviews(tmp_path)
    return read_reviews(tmp_path, seed=1)


def words_of(reviews, page):
    return {reviews.vocabulary.words[word] for word in page.tolist() if word != PADDING_ID}


def test_a_page_holds_other_training_reviews_and_never_the_one_it_is_asked_about(reviews):
    # Every review names its user, its item and its split.
    for name, part in reviews.splits.items():
        for row in range(len(part)):
            user, item = int(part.users[row]), int(part.items[row])
            for page in (part.user_pages[row], part.item_pages[row]):
                said = words_of(reviews, page)
                assert not {"dev", "test"} & said
                assert not {f"u{user}i{item}"} & said
            assert f"i{item}" not in words_of(reviews, part.user_pages[row])
            assert f"u{user}" not in words_of(reviews, part.item_pages[row])
            assert words_of(reviews, part.user_pages[row]) <= {f"u{user}", "train", "<unk>"} | {
                f"i{other}" for other in range(12)
            } | {"good", "bad"}, name
    assert part.user_pages.shape[1] == REVIEWS * WORDS


def test_biases_are_pulled_towards_nothing_where_there_are_few():
    rest, by = torch.tensor([1.0, 1.0, 1.0, 3.0]), torch.tensor([0, 0, 0, 1])
    assert shrunk(rest, by, 3).tolist() == pytest.approx([3 / 8, 3 / 6, 0])


def test_a_rating_is_the_same_alone_and_in_company(reviews):
    model = build(reviews, gated=True).eval()
    few = reviews.splits["train"].rows(torch.arange(9))
    assert torch.allclose(model(few)[4], model(few.rows(torch.tensor([4])))[0], atol=1e-5)


def test_both_raters_have_as_many_parameters(reviews):
    gated, plain = (build(reviews, gated=gates) for gates in (True, False))
    assert abs(parameters_of(plain) / parameters_of(gated) - 1) < 0.03  # of few words


def test_biases_tell_users_who_rate_high_from_those_who_rate_low(reviews):
    tested = reviews.splits["test"]
    mean = (reviews.splits["train"].ratings.mean() - tested.ratings).square().mean().sqrt()
    assert biases_alone(reviews) < float(mean) - 0.1


@pytest.mark.slow
def test_the_small_size_learns_on_a_file_of_the_same_form_and_is_drawn(tmp_path):
    write_reviews(tmp_path)
    outcome = REAL.train(0, "small", tmp_path, "cpu")
    assert outcome.figure < outcome.table["RMSE of the mean alone"] + 0.1
    REAL.draw([outcome, outcome], Figure())
