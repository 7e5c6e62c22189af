"""decoders.py: decoders other than binutils' read the code that is proved, and must say what objdump says.

SPDX-License-Identifier: MIT OR Apache-2.0

iced-x86 reads x86, Capstone AArch64 (pip install iced-x86 capstone). Both texts are brought into one spelling: numbers
in one base, addresses instead of distances, nothing that is implied. Capstone 5.0.9 is not asked about x86: it knows
no SHA-512 instructions, takes those of AVX-512 for 64-bit lanes on i686 for others, and multiplies the displacement of
vmovq to memory by 16 instead of 8.
"""

import re

try:
    import capstone
    import iced_x86
except ImportError:
    capstone = iced_x86 = None


def is_there():
    return iced_x86 is not None


X86_RULES = [
    (r"ptr (\[.*?\])({k\d})?{1to\d+}", r"bcst \1\2"), (r"\bds:(0x[0-9a-f]+)", r"[\1]"), (r"\b[de]s:", ""),
    (r"\+[er]iz\*1", ""), (r"[+-]0x0\b(?=\])", ""), (r"^(sha256rnds2.*),xmm0$", r"\1"), (r"^movabs", "mov"),
    (r"^imul\s+(\w+),\1,", r"imul \1,"), (r"^(rep \w+?)[bwdq] ", r"\1 "), (r"^(rep stos .*),[er]?a[xl]$", r"\1"),
    (r"0x0*(?=[0-9a-f])", ""),
]


def x86_spelling(text):
    text, _, comment = text.partition("#")
    if re.search(r"\bnop|^xchg\s+ax,ax$", text):
        return "nop"
    text = re.sub(r"<.*?>", "", text).strip().lower()
    if comment.strip():
        text = re.sub(r"\[rip[+-]0x[0-9a-f]+\]", f"[{comment.split()[0]}]", text)
    for old, new in X86_RULES:
        text = re.sub(old, new, text)
    return " ".join(text.split())


A64_NAMES = {"cs": "hs", "cc": "lo", "b.cs": "b.hs", "b.cc": "b.lo"}


def a64_spelling(text):
    text = re.sub(r"//.*|<.*?>|#", "", text).strip()
    if re.match(r"(b|bl|b\.\w\w|cbn?z|tbn?z|adrp?)\s", text):  # the last operand is an address
        head, space, address = re.fullmatch(r"(.*[\s,])(\s*)(?:0x)?([0-9a-f]+)", text).groups()
        text = f"{head}0x{address}"
    size = 2 ** (32 if re.match(r"mov\s+w", text) else 64)
    text = re.sub(r"(?<![\w.])-?(0x[0-9a-f]+|\d+)", lambda x: str(int(x[0], 0 if "x" in x[0] else 10) % size), text)
    return " ".join(A64_NAMES.get(x, x) for x in re.findall(r"[^\s,]+", text))


def x86_decoder(nbits):
    spelling = iced_x86.Formatter(iced_x86.FormatterSyntax.INTEL)
    spelling.hex_prefix, spelling.hex_suffix, spelling.uppercase_hex = "0x", "", False
    spelling.always_show_scale, spelling.small_hex_numbers_in_decimal = True, False
    spelling.show_branch_size, spelling.memory_size_options = False, iced_x86.MemorySizeOptions.ALWAYS

    def decoded(code, address):
        instruction = iced_x86.Decoder(nbits, code, ip=address).decode()
        return spelling.format(instruction), instruction.len

    return decoded, x86_spelling


def a64_decoder():
    decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)

    def decoded(code, address):
        return next(((f"{x[2]} {x[3]}", x[1]) for x in decoder.disasm_lite(code, address)), ("no instruction", 0))

    return decoded, a64_spelling


def differences(image, name):
    """The instructions of an image that the two decoders read differently, and the number of those read."""
    decoded, spelling = a64_decoder() if name == "aarch64" else x86_decoder(8 * image.word_nbytes)
    wrong, done = [], set()
    for begin, segment in image.segments:
        for address in (x for x in image.lines if begin <= x < begin + len(segment)):
            at, end = address - begin, image.next[address]
            code, expected = segment[at : at + 15 if end is None else end - begin], image.lines[address]
            if (code, expected) in done:  # a text with an address is another at each place
                continue
            done.add((code, expected))
            text, nbytes = decoded(code, address)
            if spelling(text) != spelling(expected) or end is not None and nbytes != end - address:
                wrong.append(f"{address:#x}: {expected}: another decoder: {text}")
    return wrong, len(done)
