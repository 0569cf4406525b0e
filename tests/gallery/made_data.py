"""Small made-up files in the forms that the real tasks of the gallery read."""

import gzip
import random

import numpy as np

from heedful.gallery.stories import PEOPLE, PLACES


def write_table(path, header, rows, *, separator=","):
    """Write a table as the data folder has them: gzip, UTF-8, with a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [separator.join(map(str, row)) for row in (header, *rows)]
    path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))


def write_babi(folder, *, stories=60):
    """Stories of task 1: people go to places, and every third line asks for one of them."""
    chance = random.Random(7)
    rows = []
    for split in ("train", "test"):
        for story in range(stories):
            went = {}
            for line in range(1, 16):
                if line % 3:
                    who, where = chance.choice(PEOPLE[:4]), chance.choice(PLACES)
                    went[who] = (line, where)
                    rows.append((1, split, f"{split}{story}", line, f"{who} went to the {where}.", "", ""))
                else:
                    who = chance.choice(sorted(went))
                    needed, answer = went[who]
                    rows.append((1, split, f"{split}{story}", line, f"Where is {who}?", answer, needed))
    header = ("task", "split", "story", "line", "text", "answer", "supports")
    write_table(folder / "babi_1k.tsv.gz", header, rows, separator="\t")


def write_stays(folder, *, patients=400):
    """Patients with two to four stays: of codes in two chapters, each keeps to one."""
    chance = random.Random(11)
    codes = [f"{chapter}{group}{code}" for chapter in (1, 2) for group in (1, 2, 3) for code in range(5)]
    rows = []
    for patient in range(patients):
        split = ("train",) * 8 + ("dev", "test")
        chapter = chance.choice("12")
        own = [code for code in codes if code[0] == chapter]
        for visit in range(1, chance.randint(2, 4) + 1):
            rows.append((patient, visit, *chance.sample(own, 3), split[patient % 10]))
    header = ("patient", "visit", "diag_1", "diag_2", "diag_3", "split")
    write_table(folder / "diabetes130_visits.csv.gz", header, rows)
    # Every second code has a level less: trees are not of one depth.
    tree = [
        (code, code[0], f"{code[0]}.{code[1]}", "" if int(code) % 2 else f"{code[0]}.{code[1]}.1", "")
        for code in codes
    ]
    write_table(folder / "diabetes130_codes.csv.gz", ("code", "l1", "l2", "l3", "l4"), tree)


def write_listening(folder, *, users=120, items=60):
    """Users who keep to one of three kinds of artists; tags tell the kind."""
    chance = random.Random(13)
    plays = []
    for user in range(users):
        own = [item for item in range(items) if item % 3 == user % 3]
        plays += [(user, item, chance.randint(1, 99)) for item in chance.sample(own, 9)]
    write_table(folder / "lastfm_plays.csv.gz", ("user", "item", "plays"), plays)
    tags = [(item, tag, 2) for item in range(items) for tag in (f"kind {item % 3}", f"tag {item % 7}")]
    write_table(folder / "lastfm_tags.csv.gz", ("item", "tag", "users"), tags)
    names = [(item, f"Artist {item}") for item in range(items)]
    write_table(folder / "lastfm_artists.csv.gz", ("item", "name"), names)


def write_reviews(folder, *, users=24, items=12):
    """Each review names its user, item and split; half of the users rate high, and say so."""
    chance = random.Random(17)
    rows = []
    for user in range(users):
        for item in range(items):
            split = chance.choice(["train"] * 4 + ["dev", "test"])
            high = user % 2 == 0
            text = f"u{user} i{item} {split} u{user}i{item} {'good' if high else 'bad'}"
            rows.append(
                (user, item, 5 - chance.randint(0, 1) if high else 2 + chance.randint(0, 1), text, split)
            )
    write_table(
        folder / "amazon_musical_instruments.csv.gz", ("user", "item", "rating", "text", "split"), rows
    )


def write_digits(folder, *, takes=5):
    """Three voices saying ten digits: each digit two sounds, then quiet; the first takes are test."""
    chance = np.random.default_rng(23)
    sounds = chance.normal(scale=4, size=(10, 2, 32))
    frames, told = [], []
    for speaker in range(3):
        for digit in range(10):
            lasting = 12 + 4 * speaker
            for index in range(takes):
                clean = np.concatenate([np.repeat(sounds[digit], lasting // 2, 0), np.full((4, 32), -9.0)])
                clean -= 3 * speaker
                frames.append(clean + chance.normal(scale=0.5, size=clean.shape))
                told.append((len(clean), digit, speaker, index, "test" if index < 2 else "train"))
    length, digit, speaker, index, split = zip(*told, strict=True)
    np.savez(
        folder / "fsdd_logmel32.npz",
        frames=np.concatenate(frames).astype(np.float16),
        length=np.array(length),
        digit=np.array(digit),
        speaker=np.array(speaker),
        index=np.array(index),
        split=np.array(split),
        speakers=np.array(["ann", "bo", "cy"]),
    )


def write_spelling(folder):
    """Sentences about animals and things, misspellings of their words, a child's lines, and a learner's."""
    chance = random.Random(29)
    nouns = (
        "garden",
        "kitchen",
        "window",
        "teacher",
        "brother",
        "doctor",
        "flower",
        "bottle",
        "church",
        "watch",
    )
    deeds = ("paints", "follows", "remembers", "watches", "carries")
    rows = []
    for place in range(400):
        text = f"The {chance.choice(nouns)} {chance.choice(deeds)} their {chance.choice(nouns)} there."
        rows.append((text, "x", (("train",) * 8 + ("dev", "test"))[place % 10]))
    write_table(folder / "tatoeba_en_fr.tsv.gz", ("en", "fr", "split"), rows, separator="\t")
    faults = [(word[:2] + word[3:], word, 1, "birkbeck") for word in (*nouns[:-1], *deeds)]
    faults += [(word[:-2] + word[-1] + word[-2], word, 1, "wikipedia") for word in (*nouns[:-1], *deeds)]
    faults += [("wach", "watch", 1, "aspell"), ("wotch", "watch", 1, "aspell"), ("o", "watch", 1, "birkbeck")]
    faults += [
        ("wakh", "watch", 1, "holbrook"),
        ("wakh", "watch", 1, "birkbeck"),
        ("their", "there", 1, "aspell"),
    ]
    write_table(folder / "misspellings.csv.gz", ("misspelling", "word", "count", "source"), faults)
    lines = [
        (1, "I wakh TV.", "I watch TV.", 1, 0),
        (1, "Some times I go.", "Sometimes I go.", 1, 0),
        (1, "I qq.", "I qq.", 1, 1),
    ]
    write_table(
        folder / "holbrook_sentences.csv.gz",
        ("passage", "source", "target", "errors", "unknown_target"),
        lines,
    )
    wrote = "The dcotor paints teh window ."
    right = ["The doctor paints the window .", "A doctor paints the window ."] * 2
    learners = [(wrote, *right, "The doctor paints the window .", split) for split in ("dev", "test")]
    header = ("source", "ref0", "ref1", "ref2", "ref3", "spellchecked", "split")
    write_table(folder / "jfleg.csv.gz", header, learners)


def write_translations(folder, *, train=120):
    """Captions of a made-up German whose verb stands last: every word has one translation."""
    chance = random.Random(19)
    who = [("mann", "man"), ("hund", "dog"), ("junge", "boy"), ("frau", "woman")]
    what = [("ball", "ball"), ("hut", "hat"), ("wagen", "cart"), ("apfel", "apple")]
    does = [("wirft", "throws"), ("sieht", "sees"), ("trägt", "carries")]
    adverbs = [("oft", "often"), ("heute", "today")]
    rows = []
    for split, count in (("train", train), ("dev", 12), ("test2016", 17), ("test2017", 5)):
        for _ in range(count):
            subject, thing, verb, adverb = (chance.choice(words) for words in (who, what, does, adverbs))
            german = f"Ein {subject[0]} den {thing[0]} {verb[0]}"
            english = f"A {subject[1]} {verb[1]} the {thing[1]}"
            if chance.random() < 0.5:
                german, english = f"{german} {adverb[0]}", f"{english} {adverb[1]}"
            rows.append((f"{english}.", f"{german}.", "", split))
    write_table(folder / "multi30k.csv.gz", ("en", "de", "fr", "split"), rows)
