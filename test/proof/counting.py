"""counting.py: what is known of numbers of blocks while they are unknown, and of addresses that grow with them.

SPDX-License-Identifier: MIT OR Apache-2.0

A number of blocks, a number of turns of a loop and the begin of an object are unknown words. What code makes of them is
a sum (words.linear). Compared with another it is less, equal or greater for all values within the bounds that are known
so far; or else the machine must go on in two ways, each of which knows more (Undecided).
"""

from math import gcd

import words


class Undecided(Exception):
    pass


FEW = 4  # numbers that are tried one after the other


class Counting:
    def __init__(self, nbits):
        self.nbits = nbits
        self.bounds = {}  # form: the least and the greatest value. A form: pairs of a word and a factor
        self.begins = {}  # a sum without its constant: the address that stands for it
        self.anywhere = set()  # words of begins
        self.forced = None  # what an undecided comparison is to yield

    def copy(self):
        out = Counting(self.nbits)
        out.bounds, out.begins, out.anywhere = dict(self.bounds), dict(self.begins), self.anywhere
        return out

    def address(self, word):
        """The machine's address for a word; None if the word is no address."""
        constant, parts = words.linear(word, self.nbits)
        begin = self.begins.get(frozenset(parts.items()))
        if begin is not None:
            return begin + constant
        # The address lies behind a known one. If few distances are possible, each is tried in turn.
        for known, begin in self.begins.items():
            rest = {**parts, **{word: parts.get(word, 0) - factor for word, factor in known}}
            factor, form = self.normal(rest)
            found = self.interval(form)
            if begin is not None and found and found[1] - found[0] <= FEW:
                value = found[0]
                while not self.chosen(form, (value, value), (value + 1, found[1])):
                    value += 1
                return begin + constant + factor * value
        return None

    def stand(self, address, *parts):
        """From now on an address stands for the sum of these pairs of a word and a factor."""
        self.begins[frozenset(parts)] = address

    def interval(self, form):
        """The least and the greatest value of a form, as far as they are known; None if it is no number of blocks."""
        low = high = 0
        for word, factor in form:
            of_word = self.bounds.get(((word, 1),))
            if of_word is None:
                return None
            low += factor * of_word[factor < 0]
            high += factor * of_word[factor > 0]
        known = self.bounds.get(form, (low, high))
        return max(low, known[0]), min(high, known[1])

    def normal(self, parts):
        """A sum as a factor and a form."""
        ordered = sorted(((word, factor) for word, factor in parts.items() if factor), key=lambda part: part[0].n)
        divisor = gcd(*(factor for _, factor in ordered)) or 1
        if ordered and ordered[0][1] < 0:
            divisor = -divisor
        return divisor, tuple((word, factor // divisor) for word, factor in ordered)

    def decide(self, relation, x, y):
        """Whether x == y or, as numbers without a sign, x < y; None if that depends on data."""
        (c, p), (d, q) = (words.linear(z, self.nbits) for z in (x, y))
        divisor, form = self.normal({word: p.get(word, 0) - q.get(word, 0) for word in {**p, **q}})
        found = self.interval(form)
        if found is None and all(word in self.anywhere or self.interval(((word, 1),)) for word, _ in form):
            return self.chosen(None, (0, 0), (0, 0))  # compilers ask whether objects overlap
        if relation == "<" and not (self.is_number(x, c, p, q) and self.is_number(y, d, q, p)):
            return None
        if found is None or max(map(abs, found)) * abs(divisor) >> self.nbits - 1:
            return None
        low, high = found
        # x - y = divisor * form + c - d
        if relation == "==":
            value, rest = divmod(d - c, divisor)
            if rest or not low <= value <= high:
                return False
            return self.chosen(form, (value, value), (low + (value == low), high - (value == high)))
        if divisor > 0:
            value = -((c - d) // divisor)
            return self.chosen(form, (low, min(high, value - 1)), (max(low, value), high))
        value = (d - c) // divisor
        return self.chosen(form, (max(low, value + 1), high), (low, min(high, value)))

    def chosen(self, form, yes, no):
        """Which of two intervals a form is in. If it may be in both, it is in that which is to be tried."""
        if yes[0] > yes[1] or no[0] > no[1]:
            return yes[0] <= yes[1]
        if self.forced is None:
            raise Undecided
        outcome, self.forced = self.forced, None
        if form is not None:
            self.bounds[form] = yes if outcome else no
        return outcome

    def is_number(self, x, constant, parts, others):
        """Whether a sum is what it says, and not so much that it is cut. (Objects do not wrap around.)"""
        if type(x) is int:
            return x >> self.nbits - 1 == 0
        factor, form = self.normal({word: factor for word, factor in parts.items()
                                    if self.interval(((word, 1),)) or others.get(word) != factor})
        found = self.interval(form)
        if found is None:
            return False
        low, high = sorted(factor * bound for bound in found)
        return low + constant >= 0 and high + constant >> self.nbits == 0
