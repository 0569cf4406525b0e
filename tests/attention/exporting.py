"""What an old torch cannot export, seen by `make oldest`."""

import pytest
import torch

NOT_BY_TORCH_2_6 = pytest.mark.skipif(
    torch.__version__.startswith("2.6."), reason="torch 2.6 does not export this with free sizes"
)
