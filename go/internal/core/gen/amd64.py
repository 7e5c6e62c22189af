# amd64.py: gcc's instructions for x86-64 as Go's assembler calls them.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Both have the operands in the same order, but for comparisons. Names and registers differ."""

import re

from gcc import code_of, die

COMPILER = "gcc"
# The register that stands for C's stack pointer: see text.py.
STACK = "R12"
ENTRY_FLAGS = []  # for gen/entry.c
FLAGS = [
    "-mno-red-zone", "-fcf-protection=none", "-mtune=generic",
    # RBP is Go's frame pointer: a function that needs it saves it.
    "-ffixed-r12", "-fcall-used-rbx", "-fcall-used-r13", "-fcall-used-r14", "-fcall-used-r15",
    # Every frame begins at a multiple of 64: no function aligns its own, or pushes anything.
    "-mpreferred-stack-boundary=6", "-mincoming-stack-boundary=6", "-maccumulate-outgoing-args",
]

REGISTERS = {"rip": "PC"}
for _name, _letter in zip("abcd", "ABCD"):
    for _form in (f"r{_name}x", f"e{_name}x", f"{_name}x", f"{_name}l"):
        REGISTERS[_form] = f"{_letter}X"
for _name, _go in (("si", "SI"), ("di", "DI"), ("bp", "BP")):
    for _form in (f"r{_name}", f"e{_name}", _name, f"{_name}l"):
        REGISTERS[_form] = _go
for _i in range(8, 16):
    for _suffix in ("", "d", "w", "b"):
        REGISTERS[f"r{_i}{_suffix}"] = f"R{_i}"
for _i in range(32):
    for _form in "xyz":
        REGISTERS[f"{_form}mm{_i}"] = f"{_form.upper()}{_i}"
for _i in range(8):
    REGISTERS[f"k{_i}"] = f"K{_i}"
REGISTERS["ah"] = "AH"

CONDITIONS = {
    "e": "EQ", "z": "EQ", "ne": "NE", "nz": "NE", "b": "CS", "c": "CS", "nae": "CS", "nb": "CC", "nc": "CC", "ae": "CC",
    "a": "HI", "nbe": "HI", "be": "LS", "na": "LS", "l": "LT", "nge": "LT", "ge": "GE", "nl": "GE", "le": "LE",
    "ng": "LE", "g": "GT", "nle": "GT", "s": "MI", "ns": "PL", "o": "OS", "no": "OC", "p": "PS", "np": "PC",
}
# Instructions that Go calls otherwise.
NAMES = {
    "movdqa": "MOVO", "movdqu": "MOVOU", "movd": "MOVL", "movzbl": "MOVBLZX", "movzbq": "MOVBQZX", "movzwl": "MOVWLZX",
    "movzwq": "MOVWQZX", "movslq": "MOVLQSX", "movsbl": "MOVBLSX", "movabsq": "MOVQ", "ud2": "UNDEF",
    "paddd": "PADDL", "psubd": "PSUBL", "psrld": "PSRLL", "pslld": "PSLLL", "psrldq": "PSRLO", "pslldq": "PSLLO",
    "punpckldq": "PUNPCKLLQ", "punpckhdq": "PUNPCKHLQ", "pcmpeqd": "PCMPEQL", "pcmpgtd": "PCMPGTL",
    "cltq": "CDQE", "bswap": "BSWAP", "sall": "SHLL", "salq": "SHLQ", "salw": "SHLW", "salb": "SHLB", "sal": "SHL",
}
# Instructions that gcc, or assembly within C, writes without the size of their operands.
UNSIZED = {
    "add", "sub", "xor", "and", "or", "mov", "lea", "ror", "rol", "shr", "shl", "sal", "not", "neg", "test", "cmp",
    "bswap", "rorx", "andn", "bzhi", "shlx", "shrx", "sarx", "adc", "sbb", "imul", "mul", "div", "bsr", "bsf",
    "cmpxchg", "xchg",
}


class Untranslated(Exception):
    pass


def split(text):
    """Splits operands at the commas outside of parentheses."""
    found, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            found.append(text[at:i].strip())
            at = i + 1
    rest = text[at:].strip()
    return found + [rest] if rest else found


def size_of(operand):
    """Returns the letter of the size of a general register, or None."""
    name = operand.lstrip("%")
    if re.fullmatch(r"r[a-d]x|r[sd]i|r[sb]p|r\d+", name):
        return "Q"
    if re.fullmatch(r"e[a-d]x|e[sd]i|ebp|r\d+d", name):
        return "L"
    if re.fullmatch(r"[a-d]x|[sd]i|bp|r\d+w", name):
        return "W"
    if re.fullmatch(r"[a-d]l|[sd]il|bpl|r\d+b", name):
        return "B"
    return None


class Translator:
    """What an instruction means. symbol: of a name and a distance, Go's words for the place."""

    def __init__(self, symbol):
        self.symbol = symbol

    def memory(self, text):
        match = re.fullmatch(r"([^()]*)\(([^()]*)\)", text)
        if not match:
            raise Untranslated(text)
        place, inner = match.groups()
        parts = [part.strip() for part in inner.split(",")]
        if parts[0] == "%rip":
            symbol = re.fullmatch(r"(?:(-?\d+)\+)?([A-Za-z_.][\w.$]*)((?:[+-]\d+)?)", place)
            offset = int(symbol.group(1) or 0) + int(symbol.group(3) or 0)
            return self.symbol(symbol.group(2), offset)
        if place and not re.fullmatch(r"-?\d+", place):
            raise Untranslated(text)
        distance = int(place or 0)
        out = (str(distance) if distance else "")
        if parts[0]:
            out += f"({REGISTERS[parts[0][1:]]})"
        if len(parts) > 1:
            out += f"({REGISTERS[parts[1][1:]]}*{parts[2] if len(parts) > 2 else 1})"
        return out

    def operand(self, text):
        if text.startswith("$"):
            match = re.fullmatch(r"\$(-?\w+)(-\d+)?", text)  # C's own assembly has differences
            return f"${int(match.group(1), 0) + int(match.group(2) or 0)}"
        if text.startswith("%"):
            return REGISTERS[text[1:]]
        return self.memory(text)

    def instruction(self, text):
        """Returns Go's lines of one instruction of gcc, neither a jump nor a call."""
        name, _, rest = text.partition(" ") if " " in text else text.partition("\t")
        name, rest = name.strip(), rest.strip()
        if name in ("lock", "rep"):
            return [name.upper()] + self.instruction(rest)
        mask, zero, broadcast = None, False, False
        if "{" in rest:
            if found := re.search(r"\{%k(\d)\}", rest):
                mask = f"K{found.group(1)}"
            zero, broadcast = "{z}" in rest, "{1to" in rest
            rest = re.sub(r"\{[^}]*\}", "", rest)
        raw = split(rest)
        operands = [self.operand(one) for one in raw]
        go = self.name(name, raw, operands)
        if name.startswith(("v", "k", "p", "sha")) and operands and operands[0].startswith("$"):
            operands[0] = f"${int(operands[0][1:]) & 0xff}"
        if go.startswith("CMP") and not go.startswith("CMPXCHG"):
            operands.reverse()
        if re.match(r"(SH[LR]|SAR|RO[LR])[BWLQ]$", go) and len(operands) == 1:
            operands.insert(0, "$1")
        if name == "sha256rnds2" and len(operands) == 2:
            operands.insert(0, "X0")
        if mask:
            operands.insert(-1, mask)
        if broadcast:
            go += ".BCST"
        if zero:
            go += ".Z"
        return [f"{go} {', '.join(operands)}" if operands else go]

    def name(self, name, raw, operands):
        if match := re.fullmatch(r"set(\w+)", name):
            return "SET" + CONDITIONS[match.group(1)]
        if match := re.fullmatch(r"cmov(\w+)", name):
            size = size_of(raw[-1])
            condition = match.group(1)
            if condition not in CONDITIONS:
                condition = condition[:-1]
            return f"CMOV{size}{CONDITIONS[condition]}"
        if name in ("imulq", "imull") and len(raw) == 3:
            return "IMUL3" + name[-1].upper()
        if name in UNSIZED:
            sizes = [size_of(one) for one in raw if size_of(one)]
            if not sizes:
                raise Untranslated(name)
            return NAMES.get(name, name.upper()) + sizes[-1]
        if name == "movq" and any(one.startswith("%xmm") for one in raw):
            return "MOVQ"
        return NAMES.get(name, name.upper())


def aligned(line):
    """Go aligns data to 32 bytes at most."""
    if re.match(r"VMOVDQA(32|64) .*\bZ\d", line) and "(" in line and f"({STACK})" not in line:
        return line.replace("VMOVDQA", "VMOVDQU")
    return line


def on_its_stack(function):
    """Returns the lines of a function, in gcc's words, with STACK in place of the stack pointer.

    Where gcc's function finds its return address on the stack, C's stack here has nothing. A function that saves RBP or
    has a frame takes 8 bytes more of it; for one that does neither, operands on the stack are 8 bytes nearer."""
    stack = "%" + STACK.lower()
    pushes = [line for line in function.lines if line.startswith("push")]
    frames = [line for line in function.lines if re.fullmatch(r"subq? \$-?\d+, %rsp", line)]
    if len(frames) > 1 or pushes not in ([], ["pushq %rbp"]):
        die(f"{function.name} has two frames")
    shift, more = 0 if pushes or frames else -8, 0 if pushes else 8
    for line in function.lines:
        if match := re.fullmatch(r"(sub|add)q? \$(-?\d+), %rsp", line):
            nbytes = int(match.group(2))
            yield f"{match.group(1)}q ${nbytes + (more if nbytes > 0 else -more)}, {stack}"
        elif line == "pushq %rbp":
            yield f"movq %rbp, -16({stack})"
            yield f"subq $16, {stack}"
        elif line == "popq %rbp":
            yield f"movq ({stack}), %rbp"
            yield f"addq $16, {stack}"
        else:
            line = re.sub(r"(-?\d*)\(%rsp", lambda match: f"{int(match.group(1) or 0) + shift}({stack}", line)
            yield line.replace("%rsp", stack)


def head(name, _):
    """Returns Go's lines before those of a function."""
    return [f"TEXT {name}, NOSPLIT, $0-0", "\tPCALIGN $64"]


def body(_, function, symbol):
    """Returns Go's lines of a function."""
    translator, out = Translator(symbol), []
    for line in on_its_stack(function):
        name, _, rest = line.partition(" ")
        try:
            if line.endswith(":"):
                out.append(line[:-1].lstrip(".") + ":")
            elif name == ".p2align":
                if int(rest.split(",")[0]) >= 4:
                    out.append(f"\tPCALIGN ${1 << int(rest.split(',')[0])}")
            elif name == ".byte":
                out.append("\t" + "; ".join(f"BYTE ${one.strip()}" for one in rest.split(",")))
            elif name == "call":
                out.append(f"\tCALL {translator.operand(rest[1:]) if rest[0] == '*' else symbol(rest)}")
            elif name.startswith("j"):
                if not rest.startswith(".L"):
                    raise Untranslated(line)
                out.append(f"\t{'JMP' if name == 'jmp' else 'J' + CONDITIONS[name[1:]]} {rest.lstrip('.')}")
            else:
                out += ["\t" + aligned(one) for one in translator.instruction(line)]
        except (Untranslated, KeyError, AttributeError):
            out.append(f"\t{encoded(line)} // {line}")
    while out and "PCALIGN" in out[-1]:  # for the next function
        out.pop()
    return out


def store(addresses):
    """Returns Go's lines of a function that stores addresses: to a place, that of a symbol."""
    for place, symbol in addresses:
        yield f"\tLEAQ {symbol}, AX"
        yield f"\tMOVQ AX, {place}"
    yield "\tRET"


def verify():
    """Nothing: same.py compares."""


def encoded(line):
    """Returns Go's words for the bytes of an instruction that it does not know."""
    if re.search(r"%rip|^(j|call)", line):
        die(f"not to be translated: {line}")
    return "; ".join(f"BYTE $0x{byte:02x}" for byte in code_of(["as", "--64"], "objcopy", [line]))
