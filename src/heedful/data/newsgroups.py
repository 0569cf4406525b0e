"""What a newsgroup message says itself: without its header, its signature and what it quotes.

Jain & Wallace (2019), and after them Sun & Lu (2020), take these three away so that a model cannot tell a
group by an address, a sign-off or somebody else's words. The rules are blunt, as theirs are: a message whose
last paragraph is no signature loses that paragraph all the same.
"""

import re

# A line that is quoted, or that introduces what is quoted. Marks count at the margin only: an indented table
# may begin with a bar. The verbs count anywhere, since an attribution often runs over from the line before.
_QUOTE = re.compile(r"^[>|]|^In article|^Quoted from|(?:writes|wrote|says|said):|writes in")


def strip_message(message: str) -> str:
    """The message without header, footer and quotes, in this order; "" if nothing is left but white space."""
    return strip_quotes(strip_footer(strip_header(message))).strip()


def strip_header(message: str) -> str:
    """What follows the first empty line; a message without an empty line is all header."""
    return message.partition("\n\n")[2]


def strip_footer(message: str) -> str:
    """What stands before the last line that is blank or made of dashes; all of it without such a line.

    Such a line at the very top divides nothing, so there the message stays as it is.
    """
    lines = message.strip().split("\n")
    dividers = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    if not dividers or dividers[-1] == 0:
        return message
    return "\n".join(lines[: dividers[-1]])


def strip_quotes(message: str) -> str:
    """The message without the lines that quote another one or say who is quoted."""
    return "\n".join(line for line in message.split("\n") if not _QUOTE.search(line))
