"""What texts say about values: the functions of LANGUAGE section 7, gathered.

Each gives a value, or raises `ValueError` where the answer is missing evidence; the message is shown to people.
"""

from __future__ import annotations

from outstep.expr.carries import carries
from outstep.expr.mentions import MentionIndex, mentions, words_of
from outstep.expr.numbers import number
from outstep.expr.spelling import nfkc, normalise, texts_in

__all__ = ["MentionIndex", "carries", "mentions", "nfkc", "normalise", "number", "texts_in", "words_of"]
