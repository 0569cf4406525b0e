"""Stripping newsgroup messages, on messages made by hand."""

from heedful.data.newsgroups import strip_footer, strip_header, strip_message, strip_quotes

MESSAGE = """\
From: ann@example.org (Ann)
Subject: Re: a goal
Lines: 9

In article <1@example.org> bob@example.org writes:
> It was no goal.
>> It was.
I saw it, and it was in.
The keeper said so.

--
Ann, who never > quotes
"""


def test_a_message_keeps_only_what_its_writer_says():
    assert strip_message(MESSAGE) == "I saw it, and it was in.\nThe keeper said so."


def test_the_header_ends_at_the_first_empty_line():
    assert strip_header("Subject: x\n\nFirst: y\n\nSecond") == "First: y\n\nSecond"


def test_a_message_without_an_empty_line_is_all_header():
    assert strip_message("From: nobody\nSubject: nothing") == ""


def test_the_footer_begins_at_the_last_blank_line():
    assert strip_footer("one\n\ntwo\n   \nthree\nfour") == "one\n\ntwo"


def test_the_footer_begins_at_a_line_of_dashes_however_many():
    assert strip_footer("one\n-----\nme") == "one"
    assert strip_footer("one\n -- \nme") == "one"


def test_blank_lines_at_the_ends_do_not_hide_the_footer():
    assert strip_footer("\n\none\n\nme\n\n") == "one"


def test_a_message_of_one_paragraph_has_no_footer():
    assert strip_footer("one\ntwo - three") == "one\ntwo - three"


def test_dashes_at_the_top_divide_nothing():
    assert strip_footer("---\none") == "---\none"


def test_quoted_lines_and_attributions_go():
    lines = [
        "> quoted", "| quoted too", "In article <2@example.org>", "Quoted from a paper", "Bob wrote:",
        "bob@example.org (Bob) says:", "Ann writes in a group",
    ]  # fmt: skip
    assert strip_quotes("\n".join(["first", *lines, "last"])) == "first\nlast"


def test_marks_inside_a_line_and_indented_ones_stay():
    kept = "5 > 4 | 3\n  > indented\nhe wrote it\nthe article In article form"
    assert strip_quotes(kept) == kept


def test_a_message_of_quotes_alone_is_empty():
    assert strip_message("From: a\n\n> one\n> two\n") == ""
