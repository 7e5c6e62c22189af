# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random torrents as people publish them, and their content as clients keep it: names that clients change, padding of
two kinds, empty files, damage."""

import hashlib
import os
import pathlib
import random
import unicodedata

from bencode import bencode

PIECE = 16384
BITCOMET = "_____padding_file_%d_if you see this file, please update to BitComet 0.85 or above____"
NAMES = [
    "a.bin", "Readme.txt", "README.TXT", "readme.txt", "tab\there", "nul\x01.bin", "back\\slash", "q?.mkv",
    'a"b*c|d<e>f',
    "trailing. ", " leading", "dots...", "CON", "aux.txt", "com1.a.b", "Frédéric", "ünïcode/ß", "rtl\u202eabc.exe",
    "zero\u200bwidth", "del\x7f", "c1\u0085x", b"caf\xe9.bin", b"\xff\xfe", "n" * 250 + ".bin", "m" * 255,
    "é" * 121 + ".x", "sub/one", "Sub/two", "sub/deep/three", "x.tar.gz", ".hidden", "100%", "a b", "#1", "日本語/テスト.txt",
]


def as_bytes(name):
    return name if isinstance(name, bytes) else name.encode()


class Torrent:
    """A v1 torrent, and its content below a folder, under the torrent's own names."""

    def __init__(self, folder, seed):
        draw = random.Random(seed)
        self.folder, self.version = pathlib.Path(folder), "v1"
        root = as_bytes(draw.choice(["album", "Ünder", "a:b", "dir.", "tab\troot", "NUL"])) + b" %d" % seed
        names = draw.sample(NAMES, draw.randint(1, 7))
        # A name and a folder of that name cannot both be there.
        names = [name for name in map(as_bytes, names) if not any(as_bytes(n).startswith(name + b"/") for n in names)]
        # qBittorrent finds such names at its first start alone.
        self.has_alike = len({name.lower() for name in names}) < len(names)
        files, data, self.paths, self.padded = [], b"", [], set()
        for number, name in enumerate(names):
            content = draw.randbytes(draw.choice([0, 1, 5000, PIECE, 40_000, 100_000]))
            files.append({"length": len(content), "path": name.split(b"/")})
            path = os.fsencode(self.folder) + b"/" + root + b"/" + name
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # Some systems give the name back in another form.
            if draw.random() < 0.3:
                path = self.other_form(path)
            with open(path, "wb") as file:
                file.write(content)
            self.paths.append(path)
            data += content
            rest = -len(data) % PIECE
            if rest and draw.random() < 0.4:
                padding = {"length": rest, "path": [b".pad", b"%d" % rest], "attr": "p"}
                if draw.random() < 0.5:
                    padding = {"length": rest, "path": [(BITCOMET % number).encode()]}
                files.append(padding)
                self.padded.add(len(data) // PIECE)
                data += bytes(rest)
        if not data:
            files[0]["length"], data = 3, b"abc"
            with open(self.paths[0], "wb") as file:
                file.write(data)
        pieces = b"".join(hashlib.sha1(data[i : i + PIECE]).digest() for i in range(0, len(data), PIECE))
        info = {"files": files, "name": root, "piece length": PIECE, "pieces": pieces}
        self.name, self.torrent, self.piece_count = root, bencode({"info": info}), len(pieces) // 20
        self.hash = hashlib.sha1(bencode(info)).hexdigest()
        self.draw, self.index = draw, [i for i, file in enumerate(files) if b"pad" not in as_bytes(file["path"][0])]

    def store_as(self, names):
        """Stores the content under a client's names, one for each file of the torrent."""
        for number, (old, index) in enumerate(zip(self.paths, self.index)):
            new = os.fsencode(self.folder) + b"/" + os.fsencode(names[index])
            if new != old and not os.path.exists(new):
                os.makedirs(os.path.dirname(new), exist_ok=True)
                os.rename(old, new)
                self.paths[number] = new

    @staticmethod
    def other_form(path):
        try:
            folder, name = path.rsplit(b"/", 1)
            name = unicodedata.normalize("NFD", name.decode()).encode()
            return folder + b"/" + name if len(name) < 256 else path
        except UnicodeDecodeError:
            return path

    def damage(self):
        """Removes, cuts or changes a file of every third torrent."""
        draw = self.draw
        if draw.random() > 0.3:
            return
        path = draw.choice(self.paths)
        size = os.path.getsize(path)
        what = draw.choice(["remove", "cut", "flip"]) if size else "remove"
        if what == "remove":
            os.unlink(path)
        elif what == "cut":
            os.truncate(path, draw.randrange(size))
        else:
            with open(path, "r+b") as file:
                file.seek(draw.randrange(size))
                file.write(b"\x00")
