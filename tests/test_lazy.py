"""A package's public names are written once, imported when first used, and listed before that."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import heedful
from heedful import attention, data, models, study, training, trials, understanding, web
from heedful.lazy import lazily

PACKAGES = [heedful, attention, data, models, study, training, trials, understanding, web]


def told(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_name_can_be_had_and_is_listed(package):
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_no_module_takes_the_place_of_a_public_name(package):
    """An imported module becomes an attribute of its package, and would hide the name."""
    inside = {part.name for part in pkgutil.iter_modules(package.__path__)}
    assert not inside & set(package.__all__)


def test_a_part_is_there_without_being_imported_by_name():
    code = "import heedful, sys; assert 'heedful.trials' not in sys.modules; print(heedful.trials.__name__)"
    assert told(code) == "heedful.trials"
    assert {"load_data", "__version__"} <= set(dir(heedful))
    assert "trials" not in dir(heedful)  # it is no public name


def test_listing_names_loads_nothing():
    assert (
        told("import heedful, sys; dir(heedful); print('torch' in sys.modules, 'pandas' in sys.modules)")
        == "False False"
    )


def test_a_name_that_is_not_there_is_refused_by_package_and_name():
    with pytest.raises(AttributeError, match=r"module 'heedful' has no attribute 'nonsense'"):
        _ = heedful.nonsense


def test_only_imports_for_the_type_checker_are_public(tmp_path, monkeypatch):
    package = tmp_path / "seven"
    package.mkdir()
    (package / "two.py").write_text("three = 5\n", encoding="utf-8")
    source = (
        "import os\nfrom typing import TYPE_CHECKING\nfrom heedful.lazy import lazily\n"
        "if TYPE_CHECKING:\n    from seven.two import three as three\n"
        "__getattr__, __dir__, __all__ = lazily(__name__)\n"
    )
    (package / "__init__.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import seven  # type: ignore[import-not-found]

    assert seven.__all__ == ["three"]
    assert "three" in dir(seven)
    assert not {"os", "two"} & set(dir(seven))
    assert seven.three == 5
    assert Path(seven.two.__file__) == package / "two.py"
    with pytest.raises(KeyError):
        lazily("eleven")
