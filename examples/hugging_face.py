"""Audit somebody's Hugging Face classifier on your texts.

python examples/hugging_face.py NAME_OR_FOLDER reviews.csv

The file's labels must be the classifier's own names for its classes (`id2label`).
"""

import sys

import heedful

model, data = sys.argv[1:3]
audit = heedful.audit(f"hf:{model}", data, out="audit-of-classifier", say=print)
print(audit)
instead = audit.verdict.instead  # None where attention is faithful, or nothing measured better
if instead:
    print(f'To show instead of attention: heedful explain hf:{model} "a text" --by {instead.ranking}')
print(f"Open {audit.folder / 'index.html'} in a browser.")
