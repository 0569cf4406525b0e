"""A result of B instances as a table: one row per instance, one column per field."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from torch import Tensor

from heedful.trials.erasure.linear_votes import in_numpy

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Framed:
    """For results that are dataclasses of tensors (B,...), and of single values that hold for all."""

    def to_frame(self) -> "pandas.DataFrame":
        """One row per instance; several numbers of one instance (items, weights) as a list."""
        import pandas

        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return pandas.DataFrame({name: _column(v) for name, v in columns.items() if v is not None})

    def _repr_html_(self) -> str:
        """For notebooks: the table, as pandas shows it."""
        return str(self.to_frame().to_html(max_rows=10, notebook=True))


def _column(values: object) -> object:
    if isinstance(values, Tensor):
        return in_numpy(values) if values.dim() == 1 else values.tolist()
    if isinstance(values, tuple):
        several = [part.tolist() for part in values if isinstance(part, Tensor)]
        return several if len(several) == len(values) else " and ".join(values)  # names of what is compared
    return values
