"""The commands in one place. What a user can fix ends with exit code 2 and one sentence."""

import errno
import io
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from heedful import __version__
from heedful.cli import bench, data
from heedful.cli.audit import audit
from heedful.cli.card import card
from heedful.cli.compare import compare
from heedful.cli.debate import debate
from heedful.cli.demo import demo
from heedful.cli.erase import erase
from heedful.cli.explain import explain
from heedful.cli.flow import flow
from heedful.cli.gallery import gallery
from heedful.cli.heads import heads
from heedful.cli.highlight import highlight
from heedful.cli.ledger import ledger
from heedful.cli.models import models
from heedful.cli.output import say, speak
from heedful.cli.repeated import refuse_repeated
from heedful.cli.reproduce import reproduce
from heedful.cli.scores import scores
from heedful.cli.serve import serve
from heedful.cli.sweep import sweep
from heedful.cli.train import train
from heedful.cli.worker import worker
from heedful.errors import Unvouched, UserError, shortened

LOUDNESS = {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose"}


ALLOW = "--allow-module"
MISUSE: type[Any] = typer.BadParameter.__mro__[1]  # click's, in whichever place typer has it


def _allowed(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words without --allow-module NAME or --allow-module=NAME, and the modules that they name."""
    kept, modules, rest = [], [], iter(words)
    for word in rest:
        if word == ALLOW:
            modules.append(next(rest, ""))
        elif word.startswith(f"{ALLOW}="):
            modules.append(word.partition("=")[2])
        else:
            kept.append(word)
    return kept, modules


def _check_utf8(words: Sequence[str]) -> None:
    """Refuse bytes that are no text: settings and tables keep names, and libraries open files by them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            typer.echo(f"heedful: {shortened(word)} is not UTF-8, as names and texts must be.", err=True)
            raise SystemExit(2) from None


# What a name or place that somebody gave can be refused for, by whichever command and wherever it is met.
_NAMES = frozenset((errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.EPERM))


def _wants_memory(error: Exception) -> bool:
    """Whether memory was refused; torch says so by a RuntimeError, and need not be imported to know it."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return any(words in str(error) for words in ("can't allocate memory", "not enough memory"))


class Commands(TyperGroup):
    """A group of commands that says a user's mistake in one sentence instead of a traceback.

    How much is said, and which modules parts of one's own may come from, is told before or after the
    command's name, as people are used to.
    """

    allowed: Sequence[str] = ()

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        _check_utf8(given)
        end = given.index("--") if "--" in given else len(given)  # what follows belongs to the command
        told = [word for word in given[:end] if word in LOUDNESS]
        speak(*{LOUDNESS[word] for word in told})
        kept = [word for word in given[:end] if word not in LOUDNESS]
        kept, self.allowed = _allowed(kept)
        return super().main([*kept, *given[end:]], *others, **options)

    def make_context(self, *others: Any, **options: Any) -> Any:
        with _cut():
            return super().make_context(*others, **options)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        refuse_repeated(command, rest)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            for module in self.allowed:
                from heedful.models.own_parts import allow_module

                allow_module(module)
            with _doubts_said(), _cut():
                return super().invoke(ctx)
        except OSError as error:
            if "No usable temporary directory" in str(error):  # as Python says it, to whoever asks first
                self._refuse(UserError(f"{error.strerror}: name one that can be written with TMPDIR."))
            if error.errno not in _NAMES or error.filename is None:
                raise
            name = os.fsdecode(error.filename)[:200]
            self._refuse(UserError(f"{name} cannot be opened ({error.strerror}): choose another place."))
        except (MemoryError, RuntimeError) as error:
            if not _wants_memory(error):
                raise
            told = str(error).rpartition("DefaultCPUAllocator: ")[2]  # without torch's place in its source
            self._refuse(UserError(f"There is not enough memory for this ({told}): ask for less at a time."))
        except UserError as error:
            self._refuse(error)

    def _refuse(self, error: UserError) -> NoReturn:
        if speak.aloud:
            traceback.print_exc()
        typer.echo(f"heedful: {error}", err=True)
        raise typer.Exit(2) from error


@contextmanager
def _cut() -> Iterator[None]:
    """What typer says of a wrong option or name is cut, as our own sentences are."""
    try:
        yield
    except MISUSE as error:
        error.message = str(UserError(error.message))
        raise


@contextmanager
def _doubts_said() -> Iterator[None]:
    """What cannot be checked is printed as a plain line, not as Python shows its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", Unvouched)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, Unvouched):
                say(f"Warning: {message}")
            else:
                others(message, category, *place, **more)

        warnings.showwarning = show
        yield


app = typer.Typer(
    name="heedful",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Does your model mean what it attends to? Train attention classifiers and test their attention.",
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heedful {__version__}")
        raise typer.Exit


@app.callback()
def heedful(
    version: Annotated[
        bool,
        typer.Option(
            "-V", "--version", callback=_say_version, is_eager=True, help="Show the version and stop."
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("-q", "--quiet", help="Results, warnings and errors only. Anywhere in the command."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Say also where an error came from. Anywhere too.")
    ] = False,
    allow_module: Annotated[
        str | None,
        typer.Option(ALLOW, help="Import this module, for scores and encoders of your own. Anywhere too."),
    ] = None,
) -> None:
    """Does your model mean what it attends to? Train attention classifiers and test their attention."""


for command in (
    demo,
    audit,
    highlight,
    compare,
    card,
    train,
    explain,
    scores,
    flow,
    erase,
    heads,
    debate,
    sweep,
    models,
    reproduce,
    ledger,
    gallery,
    serve,
    worker,
):
    app.command()(command)
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line with these arguments, or with the process's own."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Words and names may have signs that a terminal's encoding has not, and names half of one.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app(args=None if arguments is None else list(arguments), prog_name="heedful")
        except SystemExit as end:
            if arguments is None:  # it is the process's own end
                _leave_loading_behind(end.code)
            raise
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF):
            raise
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or Python tries once more, at its end
        with suppress(OSError):  # nor can this, perhaps
            typer.echo(f"heedful: the output cannot be written ({error.strerror}).", err=True)
        raise SystemExit(2) from None


def _leave_loading_behind(code: Any) -> None:
    """End at once if a model that was given up is still being loaded: waiting would abort the process."""
    loading = sys.modules.get("heedful.models.transformers.loading")
    if loading is not None and any(thread.name == loading.LOADING for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)
