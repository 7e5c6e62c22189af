"""operators.py: the operators of a class of words, by the functions of its module.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

ALL = (1 << 64) - 1


def operators(module):
    """module: its globals(), which have conj, xor and disj when a word is used."""
    def by(name):
        return lambda x, y: module[name](x, y & ALL if type(y) is int else y)

    class Operators:
        __slots__ = ()
        __and__ = __rand__ = by("conj")
        __xor__ = __rxor__ = by("xor")
        __or__ = __ror__ = by("disj")

        def __invert__(self):
            return self ^ ALL

    return Operators
