"""induction.py: runs a block function for every number of blocks.

SPDX-License-Identifier: MIT OR Apache-2.0

The number n of blocks is an unknown word, and the state and the messages are at unknown addresses. Where a branch
depends on n, the machine goes on in two ways, each with what it then knows of n. A way ends where the function returns:
n must be known there, and the states be those after n blocks. Or it comes to the same branch for the third time: the
end of a loop.

There, induction. What the machine holds now, and held one turn before, is generalised. A number that has grown by d in
that turn has grown by i * d after i turns more. A word that is now made of states and blocks whose numbers are higher
by `step` goes on to be so; and a sum of both kinds, in both ways: the distance from a state's counter of bytes to its
last value, say. What is neither is forgotten: it becomes a word of which nothing is known. From this
machine, i being unknown, each way must lead to the same place, where all is as it is for i + 1, or to the function's
end with the right states. The words of states are atoms (words.close): they may be any.
"""

import sys

import words
from counting import Counting, Undecided
from machine import MESSAGES, STACK_NBYTES, Fault
from words import add, join, variable

sys.setrecursionlimit(20000)
SPACING = 1 << 64  # of messages
VISITS = 3, 4, 5  # which time at one place the induction is tried
MOST_WAYS = 100
DEPTHS = 2, 1000  # how deep what the machine holds is looked into: most of what is deep is not used again
NBLOCKS = 12  # so many of a message are in memory: more than any way reads


class Proof:
    def __init__(self, m, block_nbytes, reads, nbits=None):
        """m: a machine that nothing has begun in. reads(lane, nth): called when a block is read. nbits: of the number
        of blocks, if not those of an address."""
        self.m, self.block_nbytes, self.reads = m, block_nbytes, reads
        self.nbits = nbits or 8 * m.image.word_nbytes
        self.n, self.i = (variable((name, self.nbits), self.nbits) for name in ("blocks", "turns"))
        self.most = (1 << self.nbits - 1) // block_nbytes - 1  # no object is larger than half of the address space
        m.counting = Counting(self.nbits)
        m.counting.bounds[((self.n, 1),)] = 1, self.most
        m.may_read = self.may_read
        m.left = ((self.n, 1),)  # how many of the blocks that are in memory may be read
        self.starts = []  # of messages: a word, and what stands for it

    def begin(self, name, address):
        """An unknown word for an address."""
        word = variable((name, "begins", self.nbits), self.nbits)
        self.m.counting.stand(address, (word, 1))
        self.m.counting.anywhere.add(word)
        return word

    def message(self, at, blocks):
        """The begin of one more message. at: its distance from what is aligned; blocks: words of the first blocks."""
        lane = len(self.starts)
        address = MESSAGES + lane * SPACING + at
        for nth, block in enumerate(blocks):
            self.m.place(address + nth * self.block_nbytes, block, self.block_nbytes // len(block))
        self.starts.append((self.begin(("message", lane), address), address))
        return self.starts[-1][0]

    def may_read(self, m, address, nbytes):
        lane = (address - MESSAGES) // SPACING
        at = address - self.starts[lane][1]
        if not 0 <= at <= at + nbytes <= self.block_nbytes * m.counting.interval(m.left)[0]:
            raise Fault("a read beyond a message")
        if at >= NBLOCKS * self.block_nbytes:
            raise Fault("a loop that does not depend on the number of blocks")
        self.reads(lane, at // self.block_nbytes)

    def prove(self, is_right, later):
        """Runs what has begun. is_right(m, n): whether its states are those after n blocks. later(step): what, in place
        of an atom, is `step` blocks further on."""
        self.is_right, self.later, self.why = is_right, later, "nothing counts blocks"
        todo, nways = ([] if self.ended(self.m) else [(self.m, {})]), 0
        while todo:
            m, visits = todo.pop()
            place = place_of(m)
            seen = [*visits.get(place, []), m]
            if len(seen) in VISITS and any(self.is_inductive(*seen[-2:], step, depth) for depth in DEPTHS
                                           for step in self.steps(*seen[-2:])):
                continue
            if len(seen) == VISITS[-1]:
                raise Fault(f"no induction: {self.why}")
            for way in two_ways(m):
                nways += 1
                if nways > MOST_WAYS:
                    raise Fault("too many ways")
                if not self.ended(way):
                    todo.append((way, {**visits, place: seen}))

    def ended(self, m):
        """Whether the function has returned; else the machine is before a branch that is undecided."""
        try:
            m.run()
        except Undecided:
            return False
        least, most = m.counting.interval(m.left)
        if least != most:
            raise Fault(f"returns after {least} blocks and after {most}")
        if least > NBLOCKS or not self.is_right(m, least):
            raise Fault(f"another function, blocks: {least}")
        return True

    # The contents of a machine ---------------------------------------------------------------------------------------

    def contents(self, m):
        """A dictionary of places: values of as many bits as the key says."""
        found = {("r", self.nbits, name, j): part for name, x in (m.r.items() if type(m.r) is dict else enumerate(m.r))
                 for j, part in enumerate(self.parts(m, x))}
        for i, register in m.v.items():
            found |= {("v", 64, i, j): x for j, x in enumerate(m.image.isa.lanes(register, 64, 8))}
        found |= {("k", 64, i): x for i, x in m.k.items()} if type(m.k) is dict else {}
        if m.compared:
            found |= {("compared", m.compared[0], i): x for i, x in enumerate(m.compared[1:3])}
        each = self.nbits // 32
        may_change = [(m.stack_low, m.stack + STACK_NBYTES), *m.areas]
        for i in m.cells:
            if i % each == 0 and 4 * i < MESSAGES and any(low <= 4 * i < high for low, high in may_change):
                cells = tuple(m.cells.get(i + j) for j in range(each))
                if None not in cells:
                    found["m", self.nbits, i] = join(cells, 32)
                elif cells[0] is not None:
                    found["half", 32, i] = cells[0]
            elif i % each and i - 1 not in m.cells:
                found["half", 32, i] = m.cells[i]
        return found

    def parts(self, m, x):
        nbits = 8 * m.image.word_nbytes
        return words.split(x, self.nbits, nbits) if nbits > self.nbits else (x,)

    def put(self, m, place, value):
        kind, _, i, *j = place
        if kind == "r":
            m.r[i] = join((*self.parts(m, m.r[i])[: j[0]], value, *self.parts(m, m.r[i])[j[0] + 1 :]), self.nbits)
        elif kind == "v":
            lanes = list(m.image.isa.lanes(m.v[i], 64, 8))
            lanes[j[0]] = value
            m.v[i] = 64, tuple(lanes)
        elif kind == "k":
            m.k[i] = value
        elif kind == "compared":
            m.compared = tuple(value if at == i + 1 else x for at, x in enumerate(m.compared))
        elif kind == "half":
            m.cells[i] = value
        else:
            for nth, part in enumerate(words.split(value, 32, self.nbits)):
                m.cells[i + nth] = part

    def growth(self, was, now, nbits):
        """The number by which a sum is now another one than it was, or None."""
        if type(was) is int and type(now) is int:
            return words.signed(now - was, nbits)
        if was == now:
            return 0
        if was is None or nbits != self.nbits:
            return None
        (c, p), (d, q) = words.linear(was, nbits), words.linear(now, nbits)
        return words.signed(d - c, nbits) if p == q else None

    def steps(self, before, now):
        """By how many blocks a turn may go on: as the number of those that are left, and pointers, say."""
        a, b, found = self.contents(before), self.contents(now), set()
        for place in a.keys() & b.keys():
            grown = self.growth(a[place], b[place], place[1])
            if grown and type(b[place]) is not int:
                found |= {-grown} if self.n in words.linear(b[place], self.nbits)[1] else {grown // self.block_nbytes}
            elif grown and grown % self.block_nbytes == 0:
                found.add(grown // self.block_nbytes)
        return sorted(step for step in found if 0 < step <= 4)

    # Induction -----------------------------------------------------------------------------------------------------

    def is_inductive(self, before, now, step, depth):
        if now.partly:
            raise Fault("a state or a stack of which some bytes are missing")
        later, known = self.later(step), {}

        def gone_on(value):
            try:
                return words.substituted(value, later, known, depth)
            except words.Unknown:
                return None

        a, b = self.contents(before), self.contents(now)
        # The words that go on, and by how much a number in each of them grows.
        kept = {place: self.growth(gone_on(a[place]), b[place], place[1]) for place in a.keys() & b.keys()}
        kept = {place: grown for place, grown in kept.items() if grown is not None}
        try:
            while True:
                lost = self.lost(now, b, kept, step, gone_on)
                if not lost:
                    return True
                for place in lost:
                    del kept[place]
        except (Fault, words.TooLong) as e:
            self.why = e
            return False

    def lost(self, now, contents, kept, step, gone_on):
        """Goes on from all turns. Returns what does not go on as it should."""
        m = now.copy()
        for name in ("cf", "zf", "sf", "of"):
            setattr(m, name, None)
        least, most = now.counting.interval(((self.n, 1),))
        m.left = ((self.n, 1), (self.i, -step))
        m.counting.bounds = {((self.n, 1),): (least, most), ((self.i, 1),): (0, self.most), m.left: (least, most)}
        for word, address in self.starts:
            m.counting.stand(None, (word, 1))
            m.counting.stand(address, (word, 1), (self.i, step * self.block_nbytes))
        for place, value in contents.items():
            grown = kept.get(place, "forgotten")
            if grown == "forgotten":
                self.put(m, place, variable(("forgotten", place), place[1]))
            elif grown:
                self.put(m, place, add(place[1], value, words.times(self.i, grown, place[1])))
        general = self.contents(m)
        todo, nways, lost = [m], 0, set()
        while todo:
            m = todo.pop()
            nways += 1
            if nways > MOST_WAYS:
                raise Fault("too many ways")
            if self.ended(m):
                continue
            if nways == 1 or place_of(m) != place_of(now):
                todo += two_ways(m)
                continue
            if (m.compared or ())[::3] != (now.compared or ())[::3]:
                raise Fault("another comparison")
            if m.counting.interval(m.left)[0] < least + step:
                raise Fault("a turn with fewer blocks than it takes")
            there = self.contents(m)
            for place, grown in kept.items():
                value = gone_on(general[place])
                if value is None or there.get(place) != (add(place[1], value, grown) if grown else value):
                    lost.add(place)
        return lost


def place_of(m):
    return m.pc, m.image.isa.stack_begin(m), m.is_dirty, m.calls


def two_ways(m):
    ways = [m.copy(), m.copy()]
    for way, outcome in zip(ways, (True, False)):
        way.counting.forced = outcome
    return ways
