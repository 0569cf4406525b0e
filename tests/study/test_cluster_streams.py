"""A trial over texts on a Dask cluster: the rows are those of this process, shard by shard."""

import pandas as pd
import pytest

from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.study.cluster_streams import SHARD, _shards, streams_on
from heedful.training import train
from heedful.training.texts_of_run import encode_for
from heedful.trials.stream import SPREAD, stream
from heedful.trials.streamed_trials import word_trial
from small_reviews import write_reviews

pytest.importorskip("distributed")


@pytest.mark.slow
def test_rows_made_on_workers_are_those_made_here_and_a_restart_makes_none(tmp_path):
    source = write_reviews(tmp_path / "reviews.csv")
    run = train(source, epochs=2, embedding=7)
    texts = encode_for(run.model, load_data(source))
    trial = word_trial(run.model, ["attention"], seed=3)
    asked = {"recipe": {"seed": 3}, "places": 13}
    here = stream(trial, run.model, texts, tmp_path / "here", **asked)
    assert here.batches > 2 * SHARD  # several tasks, the last of them not full
    heard = []
    with streams_on("local", 2):
        there = stream(trial, run.model, texts, tmp_path / "there", **asked, progress=heard.append)
        assert (there.instances, there.batches, there.skipped) == (here.instances, here.batches, 0)
        assert sum(heard) == there.instances
        (tmp_path / "there" / "part-000003.parquet").unlink()
        again = stream(trial, run.model, texts, tmp_path / "there", **asked)
        assert again.skipped == again.batches - 1
    assert SPREAD.get() is None
    pd.testing.assert_frame_equal(here.rows(), there.rows())
    for part in sorted((tmp_path / "here").glob("part-*")):
        assert part.read_bytes() == (tmp_path / "there" / part.name).read_bytes()


def test_shards_hold_every_batch_once_and_are_made_as_they_are_needed():
    taken = []
    batches = ((taken.append(number) or (f"{number}", None, number)) for number in range(2 * SHARD + 3))
    shards = _shards(batches)
    assert len(next(shards)) == SHARD
    assert taken == list(range(SHARD))
    assert [len(shard) for shard in shards] == [SHARD, 3]


def test_workers_without_a_scheduler_are_refused():
    with pytest.raises(UserError, match="--scheduler"), streams_on(None, 2):
        pass
