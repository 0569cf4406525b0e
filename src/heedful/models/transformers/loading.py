"""A transformer from a folder or from the hub: everything is checked before anything is believed.

Weights that are missing, left over or of another shape, a tokenizer of another vocabulary, classes with gaps,
weights that are no numbers: a model with any of these would answer, and the answers would mean nothing. So
each is refused in one sentence, and so is whatever else is wrong with a folder. Weights are read from
safetensors only, because reading a pickle runs what is in it; no code of the folder is ever run.
"""

import re
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeVar

import torch

from heedful.data.huggingface import hub_is_known
from heedful.errors import MissingExtra, UserError, listed
from heedful.models.pretrained import quietly
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tasks import check_task, class_names
from heedful.records.stored import parse_json, read_json

SECONDS, SECONDS_A_GIGABYTE = 120.0, 60.0  # that loading may take; a damaged folder may keep it busy for ever
WAITING = 10  # times as long by the clock, where the processor has other work
LOADING = "heedful loads a model"  # what the thread is called that may never end
PADDED = 0.04  # of its rows a table of embeddings may have more than the tokenizer has signs
LARGEST, MOST_PARTS = 2**27, 2**14  # of a size, and of a number of layers or heads, in a configuration
HALVES = {"F16": "float16", "BF16": "bfloat16"}
PLAIN = {"F64", "F32", *HALVES, "I64", "I32", "U8", "BOOL"}
TOKENIZERS = (
    *("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "tokenizer.model"),
    *("sentencepiece.bpe.model", "tekken.json", "bpe.codes", "prophetnet.tokenizer"),
)
Found = TypeVar("Found")
Kind = Literal["classifier", "causal"]


def load_transformer(
    name: str | Path,
    *,
    device: str = "cpu",
    label: str | None = None,
    threshold: float | None = None,
    seconds: float | None = None,
) -> TransformerSubject:
    """The sequence classifier in a folder, or of that name on the hub.

    `label` names the one that is audited where a model may give several at once; `threshold` makes a decision
    of a regression. `seconds` is the time that loading a folder may take.
    """

    def make(network: Any, tokenizer: Any) -> TransformerSubject:
        decide, classes = check_task(network.config, str(name), label=label, threshold=threshold)
        network.to(device)
        return TransformerSubject(network, tokenizer, classes=classes, decide=decide, name=str(name))

    return load_within(name, make, seconds=seconds)


def load_labels(
    name: str | Path, labels: Sequence[str], *, device: str = "cpu"
) -> Iterator[TransformerSubject]:
    """A subject for each of these labels of a classifier that may give several at once.

    It is loaded and tried once, and what it gave while one of them remembers need not be read for the next.
    """

    def make(network: Any, tokenizer: Any) -> TransformerSubject:
        every = class_names(network.config, str(name))
        return TransformerSubject(network.to(device), tokenizer, classes=every, name=str(name))

    subject = load_within(name, make)
    with subject.remembering():
        for label in labels:
            decide, classes = check_task(subject.network.config, str(name), label=label)
            assert decide is not None
            yield subject.asked_for(decide, classes)


def labels_at_once(name: str | Path) -> tuple[str, ...]:
    """The labels of a classifier that may give several at once; none of one that decides for one class."""
    config = _config_of(name)
    named = config.get("id2label")
    if config.get("problem_type") != "multi_label_classification" or not isinstance(named, dict):
        return ()
    return tuple(str(label) for label in named.values())


def check_decision(name: str | Path, *, label: str | None = None, threshold: float | None = None) -> None:
    """Refuse what a classifier does not decide, by its configuration alone, before any data are read."""
    config = _config_of(name)
    named = config.get("id2label")
    if isinstance(named, dict) and all(str(number).isdigit() for number in named):
        classes = {int(number): one for number, one in named.items()}
        known = SimpleNamespace(id2label=classes, problem_type=config.get("problem_type"))
        check_task(known, str(name), label=label, threshold=threshold)


def _config_of(name: str | Path) -> dict[str, Any]:
    folder = Path(name)
    if not folder.exists():
        folder = _from_hub(str(name))
    return _json(folder / "config.json") if (folder / "config.json").is_file() else {}


def load_within(
    name: str | Path,
    make: Callable[[Any, Any], TransformerSubject],
    *,
    kind: Kind = "classifier",
    seconds: float | None = None,
) -> TransformerSubject:
    """What is made of the network and tokenizer in a folder or of the hub, when all is checked, in time."""
    try:
        import transformers  # noqa: F401
    except ImportError:
        raise MissingExtra("A transformer", "hf") from None
    folder = Path(name)
    if not folder.exists():
        folder = _from_hub(str(name))
    stored = check_folder(folder)
    limit = seconds or SECONDS + SECONDS_A_GIGABYTE * stored.size / 2**30
    subject = _within(limit, lambda: make(*_load(folder, str(name), kind)), str(name))
    if stored.halves:
        subject.notes += (f"Its weights, stored as {listed(stored.halves)}, were read into float32.",)
    return subject


class Stored:
    """What the weight files of a folder say about themselves."""

    def __init__(self, files: list[Path]) -> None:
        self.kinds: set[str] = set()
        self.size = 0
        for file in files:
            self.size += file.stat().st_size
            self.kinds |= {str(entry["dtype"]) for entry in read_header(file).values()}

    @property
    def halves(self) -> list[str]:
        """The half precisions among its types."""
        return sorted(HALVES[kind] for kind in self.kinds & HALVES.keys())


def check_folder(folder: Path) -> Stored:
    """Refuse a folder whose files cannot be those of a model with a tokenizer, before any is loaded."""
    if not folder.is_dir() or not (folder / "config.json").is_file():
        raise _refused(folder, "it has no config.json")
    config = _json(folder / "config.json")
    if config.get("quantization_config"):
        raise _refused(
            folder,
            "its weights are quantised, which changes what single words do: run it yourself and give it as a "
            "black box",
        )
    if (folder / "adapter_config.json").exists():
        raise _refused(
            folder, "it holds an adapter, which is not put on here: merge it into its model and save that"
        )
    check_sizes(config, folder)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        pickles = [
            file.name for pattern in ("*.bin", "*.pt", "*.pth", "*.h5") for file in folder.glob(pattern)
        ]
        if pickles:
            raise _refused(
                folder,
                f"its weights are in {pickles[0]}, and only safetensors are read: save it again as such",
            )
        raise _refused(folder, "it has no weights (model.safetensors)")
    if not any((folder / file).is_file() for file in TOKENIZERS):
        raise _refused(folder, "it has no tokenizer: save the tokenizer into the same folder")
    stored = Stored(weights)
    foreign = stored.kinds - PLAIN
    if foreign:
        raise _refused(folder, f"its weights are of the type {listed(sorted(foreign))}, and float is needed")
    return stored


def check_sizes(config: Mapping[str, Any], folder: Path) -> None:
    """Refuse sizes that no model has: they would fill the memory before anything could be compared."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            check_sizes(value, folder)
        elif isinstance(value, int | float) and not isinstance(value, bool) and "theta" not in name:
            most = MOST_PARTS if re.search("layer|head|expert|block|group", name) else LARGEST
            if not abs(value) <= most:  # also what is no number
                raise _refused(folder, f"its config.json says {name} = {value}")


def read_header(file: Path) -> dict[str, dict[str, Any]]:
    """The tensors that a safetensors file says it has; one that is cut off or another is refused."""
    size = file.stat().st_size
    try:
        with file.open("rb") as opened:
            (length,) = struct.unpack("<Q", opened.read(8))
            if not 2 <= length <= min(size - 8, 2**27):
                raise ValueError
            header: dict[str, dict[str, Any]] = parse_json(opened.read(length))
        header.pop("__metadata__", None)
        ends = [int(entry["data_offsets"][1]) for entry in header.values()]
        if not header or max(ends) != size - 8 - length:
            raise ValueError
    # Whatever the bytes are, they must not be believed: wrong types and deep nesting included.
    except (struct.error, ValueError, LookupError, TypeError, AttributeError, OSError):
        raise _refused(
            file.parent, f"{file.name} is cut off or no safetensors file: copy or save it again"
        ) from None
    return header


def _load(folder: Path, name: str, kind: Kind) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoTokenizer

    auto, known, called = _made_of(kind)
    here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with quietly():
        config = AutoConfig.from_pretrained(folder, **here)
        made_for = str((getattr(config, "architectures", None) or [""])[0])
        if made_for.endswith("ForTokenClassification"):
            raise UserError(f"{name!r} labels single words, and an audit needs one decision a text.")
        if config.model_type not in known:
            raise UserError(
                f"{name!r} is of the type {config.model_type}, for which transformers has no {called}: "
                "give it as a black box."
            )
        tokenizer = AutoTokenizer.from_pretrained(folder, **here)
        network, about = auto.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # so that they are named below
            **here,
        )
    _check_weights(about, network, f"{name!r} is not a trained {called}", made_for)
    check_vocabulary(network, tokenizer, name)
    network.requires_grad_(False)  # nothing is trained here, and a graph of every parameter costs memory
    return network, tokenizer


def _made_of(kind: Kind) -> tuple[Any, Any, str]:
    """What transformers builds of this kind, of which types it can, and what people call it."""
    import transformers
    from transformers.models.auto import modeling_auto as of

    if kind == "causal":
        return transformers.AutoModelForCausalLM, of.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "language model"
    names = of.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES
    return transformers.AutoModelForSequenceClassification, names, "classifier"


def _check_weights(about: dict[str, Any], network: Any, fault: str, made_for: str) -> None:
    """Refuse weights that are not exactly those of this network: random ones would take their place."""
    faults = {
        "lack": [str(key) for key in about.get("missing_keys") or ()],
        "have another shape in": [str(key[0]) for key in about.get("mismatched_keys") or ()],
        "have what it does not know:": [str(key) for key in about.get("unexpected_keys") or ()],
    }
    for how, keys in faults.items():
        if keys:
            kind = f" (it was saved as {made_for})" if made_for else ""
            prompt = " Ask a language model by a template (--template) and labels (--labels)."
            speaks = made_for.endswith("ForCausalLM") and not type(network).__name__.endswith("ForCausalLM")
            raise UserError(
                f"{fault}{kind}: its weights {how} {listed(sorted(keys)[:3])}"
                f"{f' and {len(keys) - 3} more' if len(keys) > 3 else ''}."
                f"{prompt if speaks else ''}"
            )
    for key, value in network.named_parameters():
        if not value.isfinite().all():
            raise UserError(f"{fault}: its weight {key} has values that are not numbers.")


def check_vocabulary(network: Any, tokenizer: Any, name: str) -> None:
    """Refuse a tokenizer whose signs are not those of the network's embeddings."""
    rows = int(network.get_input_embeddings().weight.shape[0])
    ids = tokenizer.get_vocab().values()
    signs, largest = len(ids), max(ids, default=-1)
    if largest >= rows or signs < (1 - PADDED) * rows:
        raise UserError(
            f"The tokenizer of {name!r} has {signs:,} signs up to number {largest:,}, but the network has "
            f"embeddings of {rows:,}: they do not belong together."
        )


def _from_hub(name: str) -> Path:
    """Where the files of a repository of the hub are, downloaded now or before."""
    from huggingface_hub import snapshot_download

    try:
        with quietly():
            patterns = ["*.json", "*.safetensors", "*.txt", "*.model", "*.codes", "*.jinja"]
            known = hub_is_known(name)
            return Path(snapshot_download(name, allow_patterns=patterns, local_files_only=not known))
    # The hub's client raises errors of its own, of requests and of the system.
    except Exception as fault:  # noqa: BLE001
        raise _refused(name, _first_line(fault)) from None


def _within(seconds: float, load: Callable[[], Found], name: str) -> Found:
    """What `load` gives, within the time; whatever it raises is said in one sentence."""
    done: list[Found] = []
    faults: list[BaseException] = []

    def work() -> None:
        try:
            done.append(load())
        # A damaged folder makes the libraries raise anything, Rust's panics included, which are no Exception.
        except BaseException as fault:  # noqa: BLE001
            faults.append(fault)

    thread = threading.Thread(target=work, name=LOADING, daemon=True)
    begun, used = time.monotonic(), time.process_time()
    thread.start()
    # On a busy machine the clock runs on while nothing is computed, so what counts is the processor's time.
    while thread.is_alive() and time.process_time() - used < seconds:
        if time.monotonic() - begun > WAITING * seconds:
            break
        thread.join(min(0.2, seconds))
    if done:
        return done[0]
    if not faults:
        raise _refused(name, f"loading did not end within {seconds:.0f} seconds")
    fault = faults[0]
    raise fault if isinstance(fault, UserError) else _refused(name, _first_line(fault)) from None


def _refused(name: object, reason: str) -> UserError:
    return UserError(f"No classifier could be loaded from {str(name)!r}: {reason.rstrip(' .:')}.")


def _json(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except (ValueError, OSError) as fault:
        raise _refused(path.parent, f"{path.name} is damaged ({_first_line(fault)})") from None
    if not isinstance(found, dict):
        raise _refused(path.parent, f"{path.name} is no table of settings")
    return found


def _first_line(fault: BaseException) -> str:
    lines = str(fault).strip().splitlines()
    return f"{type(fault).__name__}: {lines[0][:200]}" if lines else type(fault).__name__
