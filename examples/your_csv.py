"""Audit a model of your own texts.

python examples/your_csv.py reviews.csv       # columns with texts and labels are guessed, and said

Without a file, made-up reviews stand in for yours.
"""

import sys
from pathlib import Path

import pandas as pd

import heedful

if len(sys.argv) > 1:
    path = Path(sys.argv[1])
else:
    path = Path("reviews.csv")
    corpus = heedful.load_data("data-2")
    keep = slice(0, None, 4)  # a quarter is enough to see how it goes
    names = [corpus.label_names[label] for label in corpus.labels[keep]]
    pd.DataFrame({"text": corpus.texts[keep], "label": names}).to_csv(path, index=False)

audit = heedful.audit(path, out="audit-of-" + path.stem, say=print)
print(audit)  # the verdict, and why
for answer in audit.answers:
    print(f"{answer.number}. {answer.outcome}: {answer.answer}")
print(f"Open {audit.folder / 'index.html'} in a browser.")
