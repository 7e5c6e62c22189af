"""machine.py: runs machine code of which some memory is unknown. What an instruction does is in x86.py and a64.py.

SPDX-License-Identifier: MIT OR Apache-2.0

Registers and memory hold ints and Words (words.py). A run ends with a Fault if a branch or an address depends on a
Word, if it reads memory that nobody wrote, if it writes memory that it may not write, its caller's stack, the addresses
to return to and the part of the stack that a signal may overwrite included, if its stack pointer is ever above its
frame, if it returns otherwise than it was called, or if it reads the program's variables, which may have changed since
it began. A run in which all is known is that of an emulator.
"""

import copy
import re
import struct
import subprocess
import tempfile

from words import FULL, TooLong, cut, join, shl, shr, split, variable, xor


class Fault(Exception):
    pass


def known(*values):
    if any(type(x) is not int for x in values):
        raise Fault("no model for data")


def signed(x, n):
    known(x)
    return x - (1 << n) if x >> n - 1 else x


def command(*words):
    done = subprocess.run([str(x) for x in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"prove.py: {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


class Image:
    """A linked program or shared library: its segments, its symbols and its instructions."""

    def __init__(self, path, isa, objdump, nm, only=""):
        """only: a regular expression, the instructions from the first symbol on that begins so to the last."""
        data = path.read_bytes()
        is64 = data[4] == 2
        at, size, n = (struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)) if is64 else \
            (struct.unpack_from("<I", data, 28)[0], *struct.unpack_from("<HH", data, 42))
        self.isa, self.segments, self.writable = isa, [], []
        self.symbols, self.lines, self.compiled = {}, {}, {}
        self.word_nbytes = 8 if is64 else 4
        for i in range(n):
            header = data[at + i * size : at + (i + 1) * size]
            if is64:
                kind, access, offset, address, _, nfile, nmem, _ = struct.unpack("<IIQQQQQQ", header)
            else:
                kind, offset, address, _, nfile, nmem, access, _ = struct.unpack("<IIIIIIII", header)
            if kind == 1:
                self.segments.append((address, data[offset : offset + nfile].ljust(nmem, b"\0")))
                if access & 2:
                    self.writable.append((address, address + nmem))
            elif kind == 0x6474E552:  # the loader relocates it, and nobody writes there later
                self.writable = [x for low, high in self.writable for x in ((low, min(high, address)),
                                 (max(low, address + nmem), high)) if x[0] < x[1]]
        for line in command(nm, path).splitlines():
            *address, _, name = line.split()
            if address:
                self.symbols[name] = int(address[0], 16)
        self.relocate(command("readelf", "-rW", path) if is64 else "")
        texts = {}
        if hasattr(isa, "SHA512_BYTES"):  # objdump sees a nop of as many bytes
            for address, segment in self.segments:
                texts |= {address + x.start(): isa.sha512_text(x) for x in isa.SHA512_BYTES.finditer(segment)}
            data = isa.SHA512_BYTES.sub(b"\x0f\x1f\x44\x00\x00", data)
        found = [address for name, address in self.symbols.items() if re.match(only, name)] if only else []
        with tempfile.NamedTemporaryFile() as listed:
            listed.write(data)
            listed.flush()
            for line in command(objdump, "-d", "--no-show-raw-insn", *isa.OBJDUMP, *(
                    [f"--start-address={min(found)}", f"--stop-address={max(found) + (1 << 16)}"] if found else []),
                    listed.name).splitlines():
                address, tab, text = line.partition(":\t")
                if tab:
                    self.lines[int(address, 16)] = text.strip()
        self.lines |= {x: text for x, text in texts.items() if self.lines.get(x, "").startswith("nop")}
        addresses = sorted(self.lines)
        self.next = dict(zip(addresses, [*addresses[1:], None]))

    def relocate(self, relocations):
        """What the loader does: addresses in a program that may be anywhere are relative to 0, and memcpy and memset of
        another library get an address, where Machine.hooks has what they do."""
        segments = [(address, bytearray(segment)) for address, segment in self.segments]
        values = [(int(place, 16), int(value, 16)) for place, value in
                  re.findall(r"^([0-9a-f]+) .*_RELATIV\S*\s+([0-9a-f]+)$", relocations, re.M)]
        for place, name in re.findall(r"^([0-9a-f]+) .* 0+ (memcpy|memset)(?:@\S*)? \+ 0$", relocations, re.M):
            values.append((int(place, 16), self.symbols.setdefault(name, IMPORTED + 16 * len(self.symbols))))
        for place, value in values:
            for address, segment in segments:
                if address <= place < address + len(segment):
                    struct.pack_into("<Q", segment, place - address, value)
        self.segments = [(address, bytes(segment)) for address, segment in segments]

    def instruction(self, pc):
        """A function that carries out the instruction at pc, and the address behind it."""
        if pc not in self.lines:
            raise Fault(f"a jump to {pc:#x}")
        text = self.lines[pc]
        try:
            return self.isa.instruction(text, self.next[pc]), self.next[pc], text
        except (KeyError, ValueError, IndexError, TypeError) as e:
            raise Fault(f"no model of: {text} ({e!r})") from e


STOP = 0x7FFF0000  # where the first function returns to
IMPORTED = 0x7F000000  # from here on, at multiples of 16: functions of other libraries
STACK = 0x6FFFFFF0  # a multiple of 16, as the ABIs say, and of no more
STACK_NBYTES = 0x40000
HIGH = 0x7FFD << 32  # is added to both where addresses have 64 bits: code that cuts them to 32 goes elsewhere
MOST_DECISIONS = 1 << 22
SPACE = 0x20000000  # what new() hands out
MESSAGES = 1 << 100  # from here on, at multiples of 2^64: messages that are as long as is not known


class Machine:
    def __init__(self, image, has_variables=True):
        """has_variables: the program's variables have the values that they begin with."""
        self.image, self.has_variables = image, has_variables
        self.cells = {}  # address // 4: a value of 32 bits
        self.partly = {}  # address // 4: which of the four bytes are there, if not all
        self.top = SPACE
        self.hooks = {}  # address: a function that is run instead of the code there, or, if it returns True, before it
        self.executed = set()  # texts of instructions
        self.pc = 0
        self.ndecisions = 0
        self.counting = None  # what is known of numbers of blocks (counting.py)
        self.may_read = None  # whether so many bytes of a message may be read
        self.areas = list(image.writable) if has_variables else []  # that may be written
        high = HIGH if image.word_nbytes == 8 else 0
        self.stop, self.stack, self.stack_end = STOP + high, STACK + high, STACK + high
        self.stack_low = self.stack - STACK_NBYTES
        # Of each call that has not returned: the stack pointer that it began with, the end of the address to return to,
        # if that is on the stack, and this address.
        self.calls = ()
        # x86: whether an upper half of ymm0 to zmm15 was written since vzeroupper, while a function is called
        self.is_dirty = None
        image.isa.begin(self)

    def copy(self):
        out = copy.copy(self)
        for name in ("cells", "partly", "k", "v", "r"):
            setattr(out, name, copy.copy(getattr(self, name)))
        out.areas, out.counting = list(self.areas), self.counting and self.counting.copy()
        return out

    def decide(self, _outcome):
        """An instruction does one of several things, which depends on what is known."""
        self.ndecisions += 1
        if self.ndecisions > MOST_DECISIONS:
            raise Fault("does not end")

    def compare(self, relation, x, y):
        """Whether x == y or x < y, of which one at least is unknown."""
        outcome = self.counting and self.counting.decide(relation, x, y)
        if outcome is None:
            raise Fault("a branch depends on data")
        return int(outcome)

    def flag(self, relation, swaps=False, if_so=1):
        """A flag that is unknown, from what was compared last: a width, x, y, and whether these were compared, or only
        their difference with 0."""
        if relation is None or self.compared is None:
            raise Fault("a branch depends on data")
        nbits, x, y, is_difference = self.compared
        if self.counting and nbits != self.counting.nbits or relation == "<" and not is_difference:
            raise Fault("a branch depends on data")
        return int(self.compare(relation, *((y, x) if swaps else (x, y))) == if_so)

    def address(self, word):
        """What stands for an unknown address."""
        found = self.counting and self.counting.address(word)
        if found is None:
            raise Fault("an address depends on data")
        return found

    def new(self, nbytes, align=64, at=0):
        """The address of memory that may be written; at: its distance from what is aligned."""
        address = self.top + -self.top % align + at
        self.top = address + nbytes + 256
        self.areas.append((address, address + nbytes))
        return address

    def bytes(self, values, align=64, at=0):
        """The address of memory that may only be read."""
        address = self.top + -self.top % align + at
        self.top = address + len(values) + 256
        for i, value in enumerate(values):
            self.put(address + i, value)
        return address

    def words(self, values, nbytes, align=64, at=0):
        address = self.new(nbytes * len(values), align, at)
        self.areas.pop()
        self.place(address, values, nbytes)
        return address

    def place(self, address, values, nbytes):
        """Puts words at an address, where they may only be read."""
        self.areas.append((address, address + nbytes * len(values)))
        for i, value in enumerate(values):
            self.store(address + i * nbytes, nbytes, value)
        self.areas.pop()

    def fixed(self, i):
        """A cell of the program's own."""
        for address, data in self.image.segments:
            at = 4 * i - address
            if 0 <= at < len(data):
                variables = () if self.has_variables else self.image.writable
                if any(low < 4 * i + 4 and 4 * i < high for low, high in variables):
                    raise Fault(f"{4 * i:#x} is a variable")
                return int.from_bytes(data[at : at + 4].ljust(4, b"\0"), "little")
        if self.stack_low <= 4 * i < self.stack:  # compilers load a vector of which they wrote a part
            return variable(("stack", i), 32)
        raise Fault(f"read of {4 * i:#x}, which nobody wrote")

    def has(self, address):
        """Whether somebody wrote there."""
        return self.partly.get(address >> 2, 15 if address >> 2 in self.cells else 0) >> (address & 3) & 1

    def cell(self, i):
        value = self.cells.get(i)
        if value is None:
            value = self.cells[i] = self.fixed(i)
        return value

    def move_stack(self, to):
        """The stack pointer that an instruction leaves. A signal may come behind each."""
        if type(to) is not int or not self.stack_low <= to <= self.calls[-1][0]:
            raise Fault("the stack pointer leaves the frame")
        return to

    def returned(self, stack, to):
        """Ends the last call: a return to an address, with a stack pointer."""
        begin, _, after = self.calls[-1]
        if stack != begin or to != after:
            raise Fault("returns elsewhere, or with another stack pointer")
        self.calls = self.calls[:-1]
        return after

    def load(self, address, nbytes):
        if address >= MESSAGES:
            self.may_read(self, address, nbytes)
        if self.stack_low <= address < self.stack and address < self.image.isa.stack_begin(self):
            raise Fault(f"read of {address:#x}, which a signal may have overwritten")
        if address & 3 == 0 and nbytes & 3 == 0:
            i = address >> 2
            if not self.partly:
                if nbytes == 4:
                    return self.cell(i)
                return join(tuple(self.cell(i + j) for j in range(nbytes >> 2)), 32)
        parts = []
        for a in range(address, address + nbytes):
            if not self.partly.get(a >> 2, 15) >> (a & 3) & 1:
                raise Fault(f"read of {a:#x}, which nobody wrote")
            parts.append(cut(shr(self.cell(a >> 2), 8 * (a & 3)), 8))
        return join(tuple(parts), 8)

    def put(self, a, byte):
        i, at = a >> 2, 8 * (a & 3)
        old = self.cells.get(i)
        if old is None:
            try:
                old = self.fixed(i)
            except Fault:
                old = 0
                self.partly[i] = 0
        if i in self.partly:
            self.partly[i] |= 1 << (a & 3)
            if self.partly[i] == 15:
                del self.partly[i]
        keep = old & ~(255 << at) & FULL[32]
        self.cells[i] = xor(keep, shl(byte, at))

    def store(self, address, nbytes, value):
        if self.stack_low <= address < self.stack + STACK_NBYTES:
            may = self.image.isa.stack_begin(self) <= address and address + nbytes <= self.stack_end
            may = may and not any(low < address + nbytes and address < high for low, high, _ in self.calls)
        else:
            may = any(low <= address and address + nbytes <= high for low, high in self.areas)
        if not may:
            raise Fault(f"write of {nbytes} bytes at {address:#x}, where nobody may write")
        if address & 3 == 0 and nbytes & 3 == 0:
            i = address >> 2
            for j, part in enumerate(split(value, 32, 8 * nbytes) if nbytes > 4 else (value,)):
                self.cells[i + j] = part
                if self.partly:
                    self.partly.pop(i + j, None)
        else:
            for j, part in enumerate(split(value, 8, 8 * nbytes)):
                self.put(address + j, part)

    def load_lanes(self, address, width, n):
        """n values of `width` bits."""
        if width < 32 or address & 3 or address >= MESSAGES or self.stack_low <= address < self.stack:
            return tuple(self.load(address + i * width // 8, width // 8) for i in range(n))
        if width == 32 and not self.partly:
            i = address >> 2
            return tuple(self.cell(i + j) for j in range(n))
        return tuple(self.load(address + i * width // 8, width // 8) for i in range(n))

    def store_lanes(self, address, width, lanes):
        for i, lane in enumerate(lanes):
            self.store(address + i * width // 8, width // 8, lane)

    def call(self, function, *arguments):
        """Runs a function until it returns."""
        self.begin(function, *arguments)
        self.run()

    def begin(self, function, *arguments):
        self.pc = self.image.symbols[function] if type(function) is str else function
        self.image.isa.enter(self, arguments)
        self.saved = self.image.isa.saved(self)

    def run(self):
        """Runs what begin() began until it returns, or is undecided before the instruction at pc."""
        compiled, hooks, pc = self.image.compiled, self.hooks, self.pc
        text = ""
        try:
            while pc != self.stop:
                if pc in hooks and hooks[pc](self) is None:
                    pc = self.image.isa.leave(self)
                    continue
                entry = compiled.get(pc)
                if entry is None:
                    entry = compiled[pc] = self.image.instruction(pc)
                self.pc = pc
                run, pc, text = entry
                self.executed.add(text)
                jump = run(self)
                if jump is not None:
                    pc = jump
        except Fault as e:
            raise Fault(f"{e}: {text}") from e
        except TooLong as e:
            raise Fault(f"a word that the standard does not have: {text}") from e
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as e:
            raise Fault(f"no model for what is unknown: {text} ({e!r})") from e
        if self.calls:
            raise Fault("goes back to its caller without a return")
        if self.image.isa.saved(self) != self.saved:
            raise Fault("a register of the caller is not as before")


def lanes(register, width, n):
    """n lanes of a vector register, which is a pair of a width and lanes of this width; zeros beyond."""
    w, values = register
    if w > width:
        values = tuple(part for value in values for part in split(value, width, w))
    elif w < width:
        each = width // w
        values = tuple(join(values[i : i + each], w) for i in range(0, len(values), each))
    return values[:n] if len(values) >= n else values + (0,) * (n - len(values))
