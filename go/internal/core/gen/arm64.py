# arm64.py: gcc's instructions for AArch64 as Go's assembler calls them.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Go has the operands in the opposite order. What Go has no name for stands as its word.

`verify` assembles every translated instruction with Go, and compares the word with that of gcc's assembler."""

import functools
import os
import re
import tempfile

from gcc import code_of, die, run

COMPILER = "aarch64-linux-gnu-gcc"
# The register that stands for C's stack pointer: see text.py.
STACK = "R26"
FLAGS = [
    "-mbranch-protection=none", "-mno-outline-atomics",
    "-fno-section-anchors",  # they are places in the middle of data
    # The platform's register, the temporary of Go's assembler, Go's g, and its frame pointer.
    "-ffixed-x18", "-ffixed-x26", "-ffixed-x27", "-ffixed-x28", "-ffixed-x29",
    *(f"-fcall-used-x{i}" for i in range(19, 26)), *(f"-fcall-used-v{i}" for i in range(8, 16)),
]
# Flags for gen/entry.c, which reads tables: gcc then keeps the two halves of an address in one block.
ENTRY_FLAGS = ["-fno-gcse"]
ASSEMBLER = ["aarch64-linux-gnu-as", "-march=armv8.4-a+crypto+sha3"]

CONDITIONS = {
    "eq": "EQ", "ne": "NE", "cs": "HS", "hs": "HS", "cc": "LO", "lo": "LO", "mi": "MI", "pl": "PL", "vs": "VS",
    "vc": "VC", "hi": "HI", "ls": "LS", "ge": "GE", "lt": "LT", "gt": "GT", "le": "LE",
}
BRANCHES = {"b": "JMP"} | {f"b{dot}{name}": f"B{go}" for name, go in CONDITIONS.items() for dot in ("", ".")} | \
    {name: name.upper() for name in ("cbz", "cbnz", "tbz", "tbnz")}
SHIFTS = {"lsl": "<<", "lsr": ">>", "asr": "->", "ror": "@>"}
# Instructions on general registers whose operands Go has in the opposite order. Go's names are the same, with a W for
# registers of 32 bits.
GENERAL = {
    "add", "sub", "adds", "subs", "and", "ands", "orr", "eor", "bic", "bics", "orn", "eon", "mvn", "neg", "cmp", "cmn",
    "tst", "lsl", "lsr", "asr", "ror", "rev", "rev16", "rbit", "clz", "mul", "udiv", "umulh", "umull", "sxtw",
}
UNSIZED = {"umulh", "umull", "sxtw", "umaddl"}  # no W, whatever the registers
# Likewise on vector registers.
VECTOR = {
    "add", "sub", "and", "orr", "eor", "bsl", "bit", "bif", "shl", "sri", "ushr", "ext", "rev32", "rev64", "zip1",
    "zip2", "trn1", "trn2", "uzp1", "uzp2", "dup", "eor3", "bcax", "rax1", "xar", "tbl",
}
LOADS = {("ldr", "x"): "MOVD", ("ldr", "w"): "MOVWU", ("ldrb", "w"): "MOVBU", ("ldrh", "w"): "MOVHU",
         ("ldr", "q"): "FMOVQ", ("ldr", "d"): "FMOVD", ("ldr", "s"): "FMOVS"}
STORES = {("str", "x"): "MOVD", ("str", "w"): "MOVW", ("strb", "w"): "MOVB", ("strh", "w"): "MOVH",
          ("str", "q"): "FMOVQ", ("str", "d"): "FMOVD", ("str", "s"): "FMOVS"}
PAIRS = {"x": "P", "w": "PW", "q": "PQ", "d": "PD", "s": "PS"}

translated = {}  # Go's lines, and the words that they mean


class Untranslated(Exception):
    pass


def split(text):
    """Splits operands at the commas outside of brackets."""
    return [one.strip() for one in re.findall(r"(?:\[[^\]]*\]|\{[^}]*\}|[^,\[{])+", text)]


def operand(text):
    """Returns a register or an immediate operand in Go's words."""
    if text in ("xzr", "wzr"):
        return "ZR"
    if match := re.fullmatch(r"[xw](\d+)", text):
        return f"R{match.group(1)}"
    if match := re.fullmatch(r"[sdq](\d+)", text):
        return f"F{match.group(1)}"
    if match := re.fullmatch(r"v(\d+)\.(\d+)([bhsd])", text):
        return f"V{match.group(1)}.{match.group(3).upper()}{match.group(2)}"
    if match := re.fullmatch(r"v(\d+)\.([bhsd])\[(\d+)\]", text):
        return f"V{match.group(1)}.{match.group(2).upper()}[{match.group(3)}]"
    if match := re.fullmatch(r"#?(-?(?:0x[0-9a-f]+|\d+))", text):
        return f"${int(match.group(1), 0)}"
    raise Untranslated(text)


def shifted(register, modifier):
    """Returns a register that is shifted or extended: by "lsl 3", "uxtw" or "uxtw 2"."""
    kind, _, amount = modifier.partition(" ")
    amount = amount.lstrip("#")
    if kind in SHIFTS:
        return f"{operand(register)}{SHIFTS[kind]}{amount}"
    if not re.fullmatch(r"[us]xt[bhwx]", kind):
        raise Untranslated(modifier)
    return f"{operand(register)}.{kind.upper()}" + (f"<<{amount}" if amount not in ("", "0") else "")


def memory(register, text, after=None):
    """Returns the place that a register is loaded from or stored at, and the suffix of an instruction that moves it.

    `after` is what the instruction adds to the register of the place afterwards."""
    match = re.fullmatch(r"\[([^\]]*)\](!?)", text)
    if not match:
        raise Untranslated(text)
    parts = split(match.group(1))
    base = f"({operand(parts[0])})"
    if after is not None:
        return operand(after)[1:] + base, ".P"
    suffix = ".W" if match.group(2) else ""
    if len(parts) == 1:
        return base, suffix
    if re.match(r"[xw]", parts[1]):
        if register[0] == "q":
            raise Untranslated(text)
        return f"{base}({shifted(parts[1], parts[2]) if len(parts) > 2 else operand(parts[1])})", suffix
    distance = operand(parts[1])[1:]
    return (base if distance == "0" and not suffix else distance + base), suffix


def constant(text, register):
    """Returns Go's line of a move of a number: as gcc's assembler chooses."""
    size, mask = ("W", (1 << 32) - 1) if register[0] == "w" else ("", (1 << 64) - 1)
    number = int(text, 0) & mask
    for name, halves in (("MOVZ", number), ("MOVN", number ^ mask)):
        for shift in range(0, mask.bit_length(), 16):
            if halves & ~(0xffff << shift) == 0 and halves != 0:
                return f"{name}{size} ${halves}, {operand(register)}"
    if number == mask:
        return f"MOV{size or 'D'} $-1, {operand(register)}"
    return f"ORR{size} ${number}, ZR, {operand(register)}"


def instruction(text):
    """Returns Go's line of an instruction of gcc that is neither a jump nor a call."""
    name, _, rest = text.partition(" ")
    raw = split(rest)
    first = raw[0][0] if raw else ""
    size = "W" if first == "w" and name not in UNSIZED else ""
    if (name, first) in LOADS:
        place, suffix = memory(raw[0], *raw[1:])
        return f"{LOADS[name, first]}{suffix} {place}, {operand(raw[0])}"
    if (name, first) in STORES:
        place, suffix = memory(raw[0], *raw[1:])
        return f"{STORES[name, first]}{suffix} {operand(raw[0])}, {place}"
    if name in ("ldp", "stp"):
        place, suffix = memory(raw[0], *raw[2:])
        go = ("F" if first in "qds" else "") + name[:2].upper() + PAIRS[first] + suffix
        both = f"({operand(raw[0])}, {operand(raw[1])})"
        return f"{go} {place}, {both}" if name == "ldp" else f"{go} {both}, {place}"
    if name in ("csel", "csinc", "csinv", "csneg"):
        return f"{name.upper()}{size} {CONDITIONS[raw[3]]}, {operand(raw[1])}, {operand(raw[2])}, {operand(raw[0])}"
    if name in ("cset", "cinc"):
        return f"{name.upper()}{size} {CONDITIONS[raw[-1]]}, {', '.join(operand(one) for one in raw[-2::-1])}"
    if name in ("ccmp", "ccmn"):
        return f"{name.upper()}{size} {CONDITIONS[raw[3]]}, {operand(raw[0])}, {operand(raw[1])}, {operand(raw[2])}"
    if name in ("madd", "msub", "umaddl"):
        to, a, b, c = map(operand, raw)
        return f"{name.upper()}{size} {b}, {c}, {a}, {to}"
    if name in ("ubfx", "ubfiz", "bfi", "bfxil", "sbfx"):
        to, of, at, width = map(operand, raw)
        return f"{name.upper()}{size} {at}, {of}, {width}, {to}"
    if name == "movk":
        number = int(operand(raw[1])[1:]) << (int(raw[2].removeprefix("lsl ").lstrip("#")) if len(raw) > 2 else 0)
        return f"MOVK{size} ${number}, {operand(raw[0])}"
    if name in ("mov", "uxtw") and first in "xw":
        of = operand(raw[1])
        if of[0] == "$":
            return constant(of[1:], raw[0])
        return f"MOV{'WU' if raw[1][0] == 'w' else 'D'} {of}, {operand(raw[0])}"
    if name == "fmov" and len(raw) == 2 and "[" in rest:  # half of a vector
        raise Untranslated(text)
    if name == "fmov" and len(raw) == 2:
        return f"FMOV{'D' if re.search('[xd]', rest) else 'S'} {operand(raw[1])}, {operand(raw[0])}"
    if name.startswith("sha"):
        return f"{name.upper()} {', '.join(operand(one).replace('F', 'V') for one in reversed(raw))}"
    if name in ("mov", "ins", "umov") and "v" in rest or name == "dup" and first in "sd":
        return f"VMOV {operand(raw[1])}, {operand(raw[0]).replace('F', 'V')}"
    if name == "ld1r" and len(raw) == 2:
        return f"VLD1R {memory(raw[0], raw[1])[0]}, [{operand(raw[0].strip('{}'))}]"
    if name in VECTOR and first == "v":
        return f"V{name.upper()} {', '.join(operand(one) for one in reversed(raw))}"
    if name in GENERAL and first in "xw":
        if re.match(r"(lsl|lsr|asr|ror|[us]xt[bhwx])\b", raw[-1]):
            operands = [shifted(raw[-2], raw[-1])] + [operand(one) for one in raw[-3::-1]]
        else:
            operands = [operand(one) for one in reversed(raw)]
        return f"{name.upper()}{size} {', '.join(operands)}"
    raise Untranslated(text)


def placed(line):
    """Returns an instruction with the stack's register, and with the whole address where it has a part (:lo12:)."""
    line = re.sub(r"\bsp\b", STACK.replace("R", "x"), line)
    line = re.sub(r"^mov ([xw])(\d+), #?0$", r"mov \1\2, \1zr", line)  # Go has no other name for a move of 0
    line = re.sub(r"^add (x\d+), (x\d+), :lo12:.*", r"mov \1, \2", line)
    return re.sub(r", #:lo12:[^\]]*\]", "]", line)


def is_code(line):
    """Reports whether a line is an instruction that means the same wherever it stands."""
    name = line.split(" ")[0]
    return not (name.endswith(":") or name in (".p2align", "adrp", "bl", "blr", "ret") or name in BRANCHES)


@functools.cache
def words(unit):
    """Returns the words of all instructions of a unit, made in one run of the assembler."""
    lines = sorted({placed(line) for one in unit.functions.values() for line in one.lines if is_code(line)})
    code = code_of(ASSEMBLER, "aarch64-linux-gnu-objcopy", lines)
    if len(code) != 4 * len(lines):
        die(f"{unit.source}: {len(lines)} instructions are {len(code)} bytes")
    return {line: int.from_bytes(code[4 * i:4 * i + 4], "little") for i, line in enumerate(lines)}


def verify():
    """Compares what Go's assembler makes of the translated instructions with what they mean."""
    lines = sorted(translated)
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "all.s"), os.path.join(folder, "all.o")
        with open(source, "w") as file:
            file.write("\n".join(["TEXT ·all(SB), 4, $0-0", *lines, "RET", ""]))
        run(["go", "tool", "asm", "-p", "all", "-o", made, source], env=os.environ | {"GOARCH": "arm64"})
        listing = run(["go", "tool", "objdump", made])
    found = {}
    for number, word in re.findall(r"^ +all\.s:(\d+)\t+0x\w+\t+([0-9a-f]{8})\b", listing, re.M):
        found.setdefault(int(number), []).append(int(word, 16))
    for number, line in enumerate(lines, 2):
        if found.get(number) != [translated[line]]:
            die(f"{line}: Go makes {[hex(word) for word in found.get(number, [])]} of an instruction that is "
                f"0x{translated[line]:08x}")


def head(name, function):
    """Returns Go's lines before those of a function.

    A function that calls no other has no frame of Go's, and its return address stays in R30: gcc may use that register,
    so that the frame of such a function has room for the address. Go adds instructions before those of a function that
    has a frame: it begins at a multiple of 64 by its own loops only."""
    if any(re.match("blr? ", line) for line in function.lines):
        return [f"TEXT {name}, NOSPLIT, $0-0"]
    if any(re.search(r"\b[xw]30\b", line) for line in function.lines):
        return [f"TEXT {name}, NOSPLIT, $8-0", "\tNO_LOCAL_POINTERS"]
    return [f"TEXT {name}, NOSPLIT, $0-0", "\tPCALIGN $64"]


def body(unit, function, symbol):
    """Returns Go's lines of a function."""
    out, parts = [], {}  # parts: by register, the symbol whose address :lo12: completes

    def fail(line):
        die(f"{unit.source}: {function.name}: not to be translated: {line}")

    for line in function.lines:
        name, _, rest = line.partition(" ")
        raw = split(rest)
        if match := re.search(r"(x\d+), #?:lo12:([^\]]*)", line):
            if parts.get(match.group(1)) != match.group(2):
                fail(line)
        if line.endswith(":"):
            out.append(line[:-1].lstrip(".") + ":")
        elif name == ".p2align":
            if int(rest.split(",")[0]) >= 4:
                out.append(f"\tPCALIGN ${1 << int(rest.split(',')[0])}")
        elif name == "adrp":
            of = re.fullmatch(r"([\w.$]+?)([+-]\d+)?", raw[1]) or fail(line)
            parts[raw[0]] = raw[1]
            out.append(f"\tMOVD ${symbol(of.group(1), int(of.group(2) or 0))}, {operand(raw[0])}")
        elif name == "bl":
            out.append(f"\tCALL {symbol(rest)}")
        elif name == "blr":
            out.append(f"\tCALL ({operand(rest)})")
        elif name == "ret":
            out.append("\tRET")
        elif not is_code(line):
            if not raw[-1].startswith(".L"):
                fail(line)
            size = "W" if name in ("cbz", "cbnz") and rest[0] == "w" else ""
            before = "".join(f"{operand(one)}, " for one in raw[-2::-1])
            out.append(f"\t{BRANCHES[name]}{size} {before}{raw[-1].lstrip('.')}")
        elif re.fullmatch(r"add (x\d+), \1, :lo12:.*", line):
            pass
        else:
            word = words(unit)[placed(line)]
            try:
                go = instruction(placed(line))
                if translated.setdefault(go, word) != word:
                    fail(line)
            except (Untranslated, KeyError):
                go = f"WORD $0x{word:08x} // {line}"
            out.append("\t" + go)
    while out and "PCALIGN" in out[-1]:  # for the next function
        out.pop()
    return out


def store(addresses):
    """Returns Go's lines of a function that stores addresses: to a place, that of a symbol."""
    for place, symbol in addresses:
        yield f"\tMOVD ${symbol}, R0"
        yield f"\tMOVD R0, {place}"
    yield "\tRET"
