#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Real clients start with the result of hashloom's check, and do not check themselves.

    python3 test/clients.py path/to/hashloom [--require]

Clients: libtorrent (the PyPI package of that name, or Debian's python3-libtorrent), qBittorrent (Debian package
qbittorrent-nox), Transmission (transmission-daemon) and Deluge (deluged). A client that is not installed is named as
SKIPPED; with --require that is a failure, except for deluged, which brings 36 packages.

Each client gets a folder of its own for all its files, free ports, and peers on this machine only. The test asks each
client over its own interface which pieces it has. Damage that a client does not notice shows that it did not check; so
does its log, if it has one. A peer (libtorrent) downloads everything from the client, which shows that the client
finds the files.
"""

import base64
import hashlib
import json
import os
import pathlib
import pickle
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import types
import urllib.error
import urllib.parse
import urllib.request

import checks
import client_torrents
import torrents
from bencode import bdecode, bencode
from checks import equal as expect
from torrents import lt

# Far more than any step takes; a machine may be slow and busy.
DEADLINE_S = 120
PIECE = 32768
BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
# No tracker listens there.
TRACKER = "http://127.0.0.1:1/announce"


def wait(what, poll):
    """Returns the first result of poll() that is not None."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        result = poll()
        if result is not None:
            return result
        time.sleep(0.1)
    sys.exit(f"FAILED: {what}: not within {DEADLINE_S} s")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Content:
    """A torrent of several files, and its content. libtorrent makes the torrents of version 2 and the hybrid ones."""

    def __init__(self, folder, name="album", seed=1, version="v1"):
        noise = random.Random(seed)
        self.name, self.folder = name, folder
        # Some pieces span files, and the last is shorter than a block.
        lengths = {"a.bin": 300_000, "b/c.bin": 65_536, "b/d ä.bin": 7, "e.bin": 200_001, "f.bin": 90_000}
        self.files = {file: noise.randbytes(length) for file, length in lengths.items()}
        self.bytes = b"".join(self.files.values())
        self.write()
        self.starts, end = {}, 0
        for file, data in self.files.items():
            if version != "v1":
                end = -(-end // PIECE) * PIECE
            self.starts[file], end = end, end + len(data)
        self.version, self.piece_count = version, -(-end // PIECE)
        if version != "v1":
            self.torrent = torrents.made(self.path(), version, PIECE, TRACKER)
            v1, v2 = torrents.info_hashes(lt.torrent_info(lt.bdecode(self.torrent)))
            self.hash = (v2 or v1)[:40]  # qBittorrent's name for the torrent
            return
        pieces = [hashlib.sha1(self.bytes[at : at + PIECE]).digest() for at in range(0, len(self.bytes), PIECE)]
        info = {
            "name": name,
            "piece length": PIECE,
            "pieces": b"".join(pieces),
            "files": [{"length": len(data), "path": file.split("/")} for file, data in self.files.items()],
        }
        self.hash = hashlib.sha1(bencode(info)).hexdigest()
        self.torrent = bencode({"announce": TRACKER, "info": info})

    def path(self, file=""):
        return self.folder / self.name / file

    def write(self):
        """Writes all files as they should be."""
        for file, data in self.files.items():
            self.path(file).parent.mkdir(parents=True, exist_ok=True)
            self.path(file).write_bytes(data)

    def flip(self, file, at, later=False):
        """Flips a byte. The modification time stays, or is a minute later."""
        stat = self.path(file).stat()
        with open(self.path(file), "r+b") as stream:
            stream.seek(at)
            byte = stream.read(1)[0]
            stream.seek(at)
            stream.write(bytes([byte ^ 1]))
        minute = 60 * 10**9 if later else 0
        os.utime(self.path(file), ns=(stat.st_atime_ns, stat.st_mtime_ns + minute))

    def damage(self):
        """Flips a byte, truncates a file and removes one; returns the pieces that are left."""
        self.flip("a.bin", 100_000)
        os.truncate(self.path("e.bin"), 150_000)
        self.path("b/c.bin").unlink()
        wrong = {
            *self.pieces_of("a.bin", 100_000, 100_001),
            *self.pieces_of("e.bin", 150_000, len(self.files["e.bin"])),
            *self.pieces_of("b/c.bin", 0, len(self.files["b/c.bin"])),
        }
        return [int(piece not in wrong) for piece in range(self.piece_count)]

    def pieces_of(self, file, start, end):
        start, end = self.starts[file] + start, self.starts[file] + end
        return range(start // PIECE, (end - 1) // PIECE + 1)


class Hashloom:
    def __init__(self, folder):
        self.torrent = folder / "checked.torrent"

    def verify(self, content, *options, path=None, status=0):
        self.torrent.write_bytes(content.torrent)
        return self.run(self.torrent, path or content.folder, *options, status=status)

    def run(self, *options, folder=None, status=0):
        return self.command("verify", *options, folder=folder, status=status)

    def command(self, *options, folder=None, status=0):
        command = [PROGRAM, "torrent", *options]
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        expect(f"{options}: status; {run.stderr}", run.returncode, status)
        return run.stdout


class Process:
    """A running client. It is ended whatever happens."""

    def __init__(self, command, folder):
        self.log = folder / "log"
        environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        for name in [name for name in environment if name.startswith("XDG_") or name.endswith("_proxy")]:
            del environment[name]
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def alive(self):
        return self.child.poll() is None

    def stop(self):
        """Ends the client as its user would, so that it writes its files."""
        if self.alive():
            self.child.terminate()
            try:
                self.child.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.kill()
                sys.exit(f"FAILED: {self.child.args[0]} did not end within {DEADLINE_S} s")

    def kill(self):
        if self.alive():
            self.child.kill()
            self.child.wait()


def get(url, data=None, headers=None):
    """Returns an answer's bytes, or None while nothing answers. Uses no proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data, headers or {}), timeout=30) as answer:
            return answer.read()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def read_json(answer):
    """Reads a client's answer. Transmission 4.1 writes the bytes of names as they are, UTF-8 or not, and control
    characters among them."""
    return json.loads(answer.decode(errors="surrogateescape"), strict=False)


class Daemon:
    """A client in a process of its own, with a folder for all its files, and settings that are not its usual ones."""

    def __init__(self, folder, settings=()):
        self.folder, self.process, self.settings = folder, None, dict(settings)
        self.prepare()

    def start(self):
        # Another program may take a free port before the client has it.
        for _ in range(5):
            self.port, self.peer_port = free_port(), free_port()
            self.process = Process(self.command(), self.folder)
            wait(f"{self.name} answers", lambda: self.answers() or (None if self.process.alive() else "ended"))
            if self.process.alive():
                return
        sys.exit(f"FAILED: {self.name} does not start:\n{self.process.log.read_text(errors='replace')}")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
        else:
            self.process.stop()


class QBittorrent(Daemon):
    name, option = "qBittorrent", "--libtorrent"
    readme = "qBittorrent/data/BT_backup", ("--libtorrent", ".")

    def prepare(self):
        self.backup = self.folder / "qBittorrent/data/BT_backup"
        self.backup.mkdir(parents=True)
        (self.folder / "qBittorrent/config").mkdir()
        (self.folder / "elsewhere").mkdir()

    def put(self, content):
        (self.backup / f"{content.hash}.torrent").write_bytes(content.torrent)

    def resume_file(self, content):
        return self.backup / f"{content.hash}.fastresume"

    def resume_folder(self):
        return self.backup

    def command(self):
        (self.folder / "qBittorrent/config/qBittorrent.conf").write_text(
            f"""[LegalNotice]
Accepted=true
[BitTorrent]
Session\\DHTEnabled=false
Session\\LSDEnabled=false
Session\\PeXEnabled=false
Session\\Port={self.peer_port}
Session\\Interface=lo
Session\\InterfaceName=lo
Session\\InterfaceAddress=127.0.0.1
Session\\DefaultSavePath={self.folder}/elsewhere
Session\\QueueingSystemEnabled=false
{self.settings.get("BitTorrent", "")}
[Network]
PortForwardingEnabled=false
[Preferences]
WebUI\\Address=127.0.0.1
WebUI\\LocalHostAuth=false
WebUI\\UseUPnP=false
"""
        )
        return ["qbittorrent-nox", f"--profile={self.folder}", f"--webui-port={self.port}"]

    def api(self, method, **fields):
        data = urllib.parse.urlencode(fields).encode() if fields else None
        return get(f"http://127.0.0.1:{self.port}/api/v2/{method}", data)

    def answers(self):
        return self.api("app/version")

    def info(self, content):
        torrents = read_json(self.api(f"torrents/info?hashes={content.hash}") or b"[]")
        return torrents[0] if torrents else None

    def state(self, content):
        """Returns the state, the pieces, and whether it checked, once the client has read its resume file and ended a
        check."""
        checking = []

        def poll():
            info = self.info(content)
            if info is None or info["state"] in ("checkingResumeData", "unknown"):
                return None
            if info["state"].startswith("checking"):
                checking.append(info["state"])
                return None
            return info

        info = wait(f"{self.name} has {content.name}", poll)
        pieces = read_json(self.api(f"torrents/pieceStates?hash={content.hash}"))
        return info["state"], [int(piece == 2) for piece in pieces], bool(checking)

    def pieces(self, content):
        return self.state(content)[1]

    def expect(self, content, pieces, what):
        state, found, checked = self.state(content)
        expect(f"{self.name}, {what}: pieces", found, pieces)
        expect(f"{self.name}, {what}: state {state}", state, "stalledUP" if all(pieces) else "stalledDL")
        expect(f"{self.name}, {what}: checked", checked, False)
        if content.version != "v1":
            return
        have = sum(len(content.bytes[i * PIECE : (i + 1) * PIECE]) for i, there in enumerate(pieces) if there)
        found = round(self.info(content)["progress"], 3)
        expect(f"{self.name}, {what}: progress", found, round(have / len(content.bytes), 3))

    def names(self, contents):
        """The client's names of all files of each torrent, padding included, which it hides."""
        files = {content.hash: lt.torrent_info(lt.bdecode(content.torrent)).files() for content in contents}
        return {of: [those.file_path(index) for index in range(those.num_files())] for of, those in files.items()}

    def expect_random(self, content, pieces, what):
        state, found, _ = self.state(content)
        expect(f"{self.name}, {what}: state", state, "stalledUP" if all(pieces) else "stalledDL")
        expect(f"{self.name}, {what}: pieces", found, pieces)

    def recheck(self, content):
        self.api("torrents/recheck", hashes=content.hash)

    def label(self, content):
        self.api("torrents/addTags", hashes=content.hash, tags="kept")
        wait("the tag", lambda: self.info(content)["tags"] == "kept" or None)

    def expect_label(self, content):
        # The client knows the torrent a moment before its tags.
        wait(f"{self.name}: tags", lambda: self.info(content)["tags"] == "kept" or None)


class Transmission(Daemon):
    name, option = "Transmission", "--transmission"
    readme = "torrents", ("--transmission", "../resume")

    def prepare(self):
        for name in ("torrents", "resume", "elsewhere"):
            (self.folder / name).mkdir()

    def put(self, content):
        (self.folder / "torrents" / f"{content.hash}.torrent").write_bytes(content.torrent)

    def resume_file(self, content):
        return self.folder / "resume" / f"{content.hash}.resume"

    def resume_folder(self):
        return self.folder / "resume"

    def command(self):
        settings = {
            "bind-address-ipv4": "127.0.0.1",
            "bind-address-ipv6": "::1",
            "dht-enabled": False,
            "download-dir": str(self.folder / "elsewhere"),
            "incomplete-dir-enabled": False,
            "lpd-enabled": False,
            "message-level": 3,
            "peer-port": self.peer_port,
            "peer-port-random-on-start": False,
            "pex-enabled": False,
            "port-forwarding-enabled": False,
            "rename-partial-files": False,
            "rpc-authentication-required": False,
            "rpc-bind-address": "127.0.0.1",
            "rpc-port": self.port,
            "utp-enabled": False,
            **self.settings,
        }
        (self.folder / "settings.json").write_text(json.dumps(settings))
        return ["transmission-daemon", "--foreground", "--no-portmap", "--config-dir", str(self.folder)]

    def rpc(self, method, **arguments):
        url = f"http://127.0.0.1:{self.port}/transmission/rpc"
        # Transmission wants a session id, which it tells in its answer to a request that has none.
        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, b"{}", timeout=30)
            return None
        except urllib.error.HTTPError as error:
            word = error.headers.get("X-Transmission-Session-Id")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None
        data = json.dumps({"method": method, "arguments": arguments}).encode()
        answer = get(url, data, {"X-Transmission-Session-Id": word})
        return answer and read_json(answer)["arguments"]

    def answers(self):
        return self.rpc("session-get")

    def info(self, content):
        fields = ["pieces", "status", "percentDone", "error", "errorString", "labels", "downloadDir"]
        torrents = (self.rpc("torrent-get", ids=[content.hash], fields=fields) or {}).get("torrents")
        return torrents[0] if torrents else None

    def pieces(self, content):
        bits = "".join(f"{byte:08b}" for byte in base64.b64decode(self.info(content)["pieces"]))
        return [int(bit) for bit in bits[: content.piece_count]]

    def expect(self, content, pieces, what):
        check_wait, checking, stopped = 1, 2, 0
        seen = set()

        def poll():
            info = self.info(content)
            if info is None:
                return None
            seen.add(info["status"])
            return None if info["status"] in (check_wait, checking, stopped) else info

        info = wait(f"{self.name} has {content.name}", poll)
        expect(f"{self.name}, {what}: pieces", self.pieces(content), pieces)
        expect(f"{self.name}, {what}: checks among the states {seen}", seen & {check_wait, checking}, set())
        expect(f"{self.name}, {what}: log", "Verifying" in self.process.log.read_text(errors="replace"), False)
        expect(f"{self.name}, {what}: error", info["errorString"] if info["error"] == 3 else "", "")
        if content.version != "v1":
            return
        have = sum(len(content.bytes[i * PIECE : (i + 1) * PIECE]) for i, there in enumerate(pieces) if there)
        expect(f"{self.name}, {what}: percent", round(info["percentDone"], 3), round(have / len(content.bytes), 3))

    def names(self, contents):
        """The client's names of all files of each torrent, padding included."""

        def poll():
            fields = ["hashString", "files"]
            found = (self.rpc("torrent-get", fields=fields) or {}).get("torrents", [])
            return found if len(found) == len(contents) else None

        with self:
            found = wait(f"{self.name} has all torrents", poll)
        return {torrent["hashString"]: [file["name"] for file in torrent["files"]] for torrent in found}

    def expect_random(self, content, pieces, what):
        info = wait(f"{self.name} has {content.name}", lambda: self.info(content))
        # To Transmission, padding is a file that is missing.
        pieces = [int(there and piece not in content.padded) for piece, there in enumerate(pieces)]
        expect(f"{self.name}, {what}: pieces", self.pieces(content), pieces)
        expect(f"{self.name}, {what}: error", info["errorString"] if info["error"] == 3 else "", "")

    def recheck(self, content):
        self.rpc("torrent-verify", ids=[content.hash])

    def label(self, content):
        self.rpc("torrent-set", ids=[content.hash], labels=["kept"])
        wait("the label", lambda: self.info(content)["labels"] == ["kept"] or None)

    def expect_label(self, content):
        expect(f"{self.name}: labels", self.info(content)["labels"], ["kept"])


def session():
    """A peer, or a client, for this machine alone. A connection that fails is tried again at once: by default after a
    minute, and no more than three times."""
    return torrents.session(listen_interfaces="127.0.0.1:0", allow_multiple_connections_per_ip=True,
                            min_reconnect_time=1, max_failcount=1000)


def download(content, peer_port, folder):
    """A peer that downloads everything from the client. Returns its session, its torrent, and a function that looks
    for the client as long as there is no other peer."""
    peer = session()
    parameters = lt.add_torrent_params()
    parameters.ti = lt.torrent_info(lt.bdecode(content.torrent))
    parameters.ti.clear_trackers() if hasattr(parameters.ti, "clear_trackers") else None
    parameters.save_path = str(folder)
    parameters.flags &= ~(lt.torrent_flags.paused | lt.torrent_flags.auto_managed)
    handle = peer.add_torrent(parameters)

    def look():
        if handle.status().num_peers == 0:
            handle.connect_peer(("127.0.0.1", peer_port))

    return peer, handle, look


def downloaded(content, peer_port, folder):
    """Returns whether a peer could download everything from the client without a wrong piece."""
    peer, handle, look = download(content, peer_port, folder)
    wrong = []

    def poll():
        wrong.extend(alert for alert in peer.pop_alerts() if isinstance(alert, lt.hash_failed_alert))
        if wrong or handle.status().is_seeding:
            return "done"
        return look()

    wait("a peer has downloaded all", poll)
    return not wrong


def check_libtorrent(folder):
    hashloom = Hashloom(folder)
    for version in ("v1", "hybrid", "v2"):
        (folder / version).mkdir()
        check_libtorrent_with(hashloom, folder / version, version)
    check_random_libtorrent(folder)


def check_libtorrent_with(hashloom, folder, version):
    content = Content(folder / "downloads", version=version)
    everything = [1] * content.piece_count
    resume = folder / "x.fastresume"

    def expect_libtorrent(pieces, checks, what):
        client = session()
        parameters = lt.read_resume_data(resume.read_bytes())
        parameters.ti = lt.torrent_info(lt.bdecode(content.torrent))
        handle = client.add_torrent(parameters)
        states, blocks = set(), {}

        def poll():
            for alert in client.pop_alerts():
                if isinstance(alert, lt.state_changed_alert):
                    states.add(str(alert.state))
                if isinstance(alert, (lt.torrent_error_alert, lt.fastresume_rejected_alert, lt.file_error_alert)):
                    sys.exit(f"FAILED: libtorrent, {what}: {alert.message()}")
                if isinstance(alert, lt.session_stats_alert):
                    blocks.update(alert.values)
            done = {"seeding", "finished", "downloading"}
            return True if str(handle.status().state) in done else None

        wait(f"libtorrent, {what}", poll)
        client.post_session_stats()
        wait("libtorrent's statistics", lambda: poll() and blocks or None)
        found = handle.status().pieces or [False] * len(pieces)
        expect(f"libtorrent, {what}: pieces", [int(piece) for piece in found], pieces)
        expect(f"libtorrent, {what}: states {states}", "checking_files" in states, checks)
        expect(f"libtorrent, {what}: blocks read", blocks["disk.num_read_ops"] > 0, checks)
        expect(f"libtorrent, {what}: trackers", len(handle.trackers()), 1)
        expect(f"libtorrent, {what}: folder", handle.status().save_path, str(folder / "downloads"))

    hashloom.verify(content, "--libtorrent", resume)
    expect_libtorrent(everything, False, "complete")
    content.flip("f.bin", 10)
    expect_libtorrent(everything, False, "damaged unseen")
    # A check of its own would have shown the damage:
    entries = bdecode(resume.read_bytes())[0]
    del entries[b"pieces"]
    resume.write_bytes(bencode(entries))
    wrong = content.pieces_of("f.bin", 10, 11)
    seen = [int(piece not in wrong) for piece in range(content.piece_count)]
    expect_libtorrent(seen, True, "nothing claimed")
    content.write()
    pieces = content.damage()
    hashloom.verify(content, "--libtorrent", resume, status=1)
    expect_libtorrent(pieces, False, "damaged")
    content.write()
    # Under another name than the torrent's.
    moved = content.path().rename(content.folder / "under another name")
    resume.unlink()
    hashloom.verify(content, "--libtorrent", resume, path=moved)
    expect_libtorrent(everything, False, "renamed")


def check_daemon(client_kind, hashloom, folder, version="v1"):
    content = Content(folder / "downloads", version=version)
    everything = [1] * content.piece_count
    (folder / "client").mkdir()
    client = client_kind(folder / "client")
    client.put(content)
    # Into the client's folder, under the name that hashloom gives.
    hashloom.verify(content, client.option, client.resume_folder())
    with client:
        client.expect(content, everything, "complete")
        expect(f"{client.name}: a peer gets everything", downloaded(content, client.peer_port, folder / "peer"), True)
        client.label(content)
    # The client's own file, with its statistics.
    before = bdecode(client.resume_file(content).read_bytes())[0]
    if version != "v1":
        # qBittorrent keeps a torrent that it is given without its piece layers; they are in the resume file.
        info = bdecode(content.torrent)[0][b"info"]
        (client.backup / f"{content.hash}.torrent").write_bytes(bencode({b"info": info}))
    # Everything is claimed, so the check is of the whole torrent.
    expect(f"{client.name}: what it says it has", hashloom.verify(content, "--claimed", client.resume_file(content))
           .splitlines()[-1].startswith("complete: "), True)
    pieces = content.damage()
    hashloom.verify(content, client.option, client.resume_file(content), status=1)
    after = bdecode(client.resume_file(content).read_bytes())[0]
    changed = {key for key in before | after if before.get(key) != after.get(key)}
    expect(f"{client.name}: keys that were changed", changed - {b"pieces", b"progress", b"completed_time",
           b"qBt-seedStatus", b"unfinished"}, set())
    with client:
        client.expect(content, pieces, "damaged")
        client.expect_label(content)
        # The client asks for the rest, but there is no peer, so nothing is written meanwhile.
    claimed = hashloom.verify(content, "--claimed", client.resume_file(content)).splitlines()[-1]
    expect(f"{client.name}: {claimed}", claimed.startswith(f"part right: {sum(pieces)} of "), True)

    # Another program has repaired the content: the client goes on with all pieces. Run as docs/clients.md says, in the
    # client's folder.
    content.write()
    place, option = client.readme
    hashloom.run(*sorted((client.folder / place).glob("*.torrent")), *option, folder=client.folder / place)
    # Damage that leaves no trace, which the client cannot know.
    content.flip("f.bin", 10)
    with client:
        client.expect(content, everything, "damaged unseen")
        client.expect_label(content)
        whole = downloaded(content, client.peer_port, folder / "deceived peer")
        expect(f"{client.name}: a peer gets damaged content", whole, False)
    content.write()

    # Another folder than before, and another name than the torrent's.
    moved = folder / "moved" / "under another name"
    shutil.copytree(content.path(), moved)
    shutil.rmtree(content.path())
    hashloom.verify(content, client.option, client.resume_file(content), path=moved)
    with client:
        client.expect(content, everything, "moved")
        client.expect_label(content)
        whole = downloaded(content, client.peer_port, folder / "other peer")
        expect(f"{client.name}: a peer gets everything that was moved", whole, True)
    return client


def random_torrents(folder, count, first):
    return [client_torrents.Torrent(folder, first + number) for number in range(count)]


def check_random_libtorrent(folder):
    """Random torrents: what libtorrent's own check finds, hashloom finds, and what it writes is taken as it is."""
    hashloom = Hashloom(folder)
    for content in random_torrents(folder / "downloads", 40, SEED * 1000):
        info = lt.torrent_info(lt.bdecode(content.torrent))
        if content.draw.random() < 0.5:
            content.store_as([info.files().file_path(index) for index in range(info.num_files())])
        content.damage()
        what = f"libtorrent, random torrent {content.name}"
        resume = folder / f"{content.hash}.fastresume"
        own = checked(content, lt.add_torrent_params(), folder / "downloads", what)
        hashloom.torrent.write_bytes(content.torrent)
        status = written(hashloom, content, what, "--libtorrent", resume)
        if status is None:
            continue
        taken = checked(content, lt.read_resume_data(resume.read_bytes()), folder / "downloads", what)
        lost = [piece for piece, is_there in enumerate(own) if is_there and not taken[piece]]
        expect(f"{what}: pieces that libtorrent has by its own check and not with what was written", lost, [])
        expect(f"{what}: complete by hashloom, and taken", status == 0, all(taken))


def written(hashloom, content, what, *options):
    """The exit status of a check that writes a client's file; None if it refuses, as no file is there, or an empty one
    is missing, which libtorrent rejects."""
    hashloom.torrent.write_bytes(content.torrent)
    command = [PROGRAM, "torrent", "verify", hashloom.torrent, content.folder, *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == 2 and ("none of the torrent's files exists" in run.stderr or "the empty file" in run.stderr):
        return None
    expect(f"{what}: {run.stderr}", run.returncode in (0, 1), True)
    return run.returncode


def checked(content, parameters, folder, what):
    """The pieces that libtorrent has; a resume file that it rejects is a failure."""
    client = session()
    parameters.ti, parameters.save_path = lt.torrent_info(lt.bdecode(content.torrent)), str(folder)
    parameters.flags |= lt.torrent_flags.upload_mode
    parameters.flags &= ~(lt.torrent_flags.paused | lt.torrent_flags.auto_managed)
    handle = client.add_torrent(parameters)

    def poll():
        for alert in client.pop_alerts():
            if isinstance(alert, (lt.torrent_error_alert, lt.fastresume_rejected_alert, lt.file_error_alert)):
                sys.exit(f"FAILED: {what}: {alert.message()}")
        return str(handle.status().state) in {"seeding", "finished", "downloading"} or None

    wait(what, poll)
    return list(handle.status().pieces) or [False] * content.piece_count


def check_random_daemon(client_kind, hashloom, folder):
    """Random torrents that a client has not seen: their content is stored under the torrent's names or the client's,
    hashloom writes the client's files, and the client takes them, also the second time."""
    (folder / "client").mkdir(parents=True)
    client = client_kind(folder / "client")
    contents = random_torrents(folder / "downloads", 24, SEED * 1000 + 500)
    for content in contents:
        client.put(content)
    names = client.names(contents)
    for content in contents:
        client.resume_file(content).unlink(missing_ok=True)
        if content.draw.random() < 0.5:
            content.store_as(names[content.hash])
        content.damage()
    have = {}
    for content in contents:
        options = client.option, client.resume_folder(), "--bitfield", folder / "bits"
        if written(hashloom, content, f"{client.name}, {content.name}", *options) is not None:
            bits = "".join(f"{byte:08b}" for byte in (folder / "bits").read_bytes())
            have[content.hash] = [int(bit) for bit in bits[: content.piece_count]]
        else:
            (client.resume_folder().parent / "torrents" / f"{content.hash}.torrent").unlink(missing_ok=True)
    contents = [content for content in contents if content.hash in have]
    for time_of in ("first", "second"):
        with client:
            for content in contents:
                if not (content.has_alike and client_kind is QBittorrent and time_of == "second"):
                    client.expect_random(content, have[content.hash], f"{content.name}, {time_of} start")


def check_partial(client_kind, hashloom, folder):
    """A release without its smallest file, renamed: a client takes what is linked, with exactly the right pieces, and
    finds the same ones when it checks all itself."""
    (folder / "client").mkdir(parents=True)
    (folder / "seeds").mkdir()
    client = client_kind(folder / "client")
    content = Content(folder / "library", "release", seed=6)
    client.put(content)
    absent = "b/d ä.bin"
    content.path(absent).unlink()
    content.path().rename(content.folder / "Release.by.others")
    hashloom.torrent.write_bytes(content.torrent)
    link = ["link", hashloom.torrent, "--in", content.folder, "--to", folder / "seeds"]
    hashloom.command(*link, client.option, client.resume_folder(), status=1)
    expect(f"{client.name}: nothing is linked", os.listdir(folder / "seeds"), [])
    hashloom.command(*link, "--partial", "5", client.option, client.resume_folder(), status=1)
    content.folder = folder / "seeds"
    lost = content.pieces_of(absent, 0, len(content.files[absent]))
    pieces = [int(piece not in lost) for piece in range(content.piece_count)]
    with client:
        client.expect(content, pieces, "linked in part")
        # Damage shows that the client has checked all.
        for state in ([int(there and number > 0) for number, there in enumerate(pieces)], pieces):
            content.flip("a.bin", 5)
            client.recheck(content)
            wait(f"{client.name} checks itself", lambda: client.pieces(content) == state or None)


def check_unfinished(client_kind, hashloom, folder, ending, settings):
    """Files that a client has not finished, under its names."""
    (folder / "client").mkdir(parents=True)
    client = client_kind(folder / "client", settings)
    content = Content(folder / "unfinished", "unfinished", seed=7)
    client.put(content)
    pieces = content.damage()
    for file in ("a.bin", "e.bin"):
        content.path(file).rename(content.path(file + ending))
    hashloom.verify(content, client.option, client.resume_folder(), status=1)
    if client_kind is Transmission:
        # The files are in its second folder alone.
        entries = bdecode(client.resume_file(content).read_bytes())[0]
        (folder / "finished").mkdir()
        entries[b"destination"] = os.fsencode(folder / "finished")
        client.resume_file(content).write_bytes(bencode(entries))
    with client:
        client.expect(content, pieces, "unfinished")
    # By the client's own file.
    told = hashloom.run(hashloom.torrent, "--claimed", client.resume_folder())
    expect(f"{client.name}, unfinished: {told}", f"part right: {sum(pieces)} of" in told, True)
    hashloom.run(hashloom.torrent, client.option, client.resume_folder(), status=1)
    with client:
        client.expect(content, pieces, "unfinished, again")


class Deluge(Daemon):
    name, option = "Deluge", "--libtorrent"

    def prepare(self):
        self.state = self.folder / "state"
        self.state.mkdir(parents=True)

    def put(self, content):
        """Adds a torrent as Deluge keeps it: objects of its own classes, pickled."""
        module = types.ModuleType("deluge.core.torrentmanager")
        for name in ("TorrentManagerState", "TorrentState"):
            setattr(module, name, type(name, (), {"__module__": module.__name__}))
        sys.modules.update({"deluge": module, "deluge.core": module, module.__name__: module})
        state, torrent = module.TorrentManagerState(), module.TorrentState()
        torrent.__dict__.update(torrent_id=content.hash, save_path=str(content.folder), queue=0, paused=False,
                                storage_mode="sparse", magnet=None, filename="x.torrent", is_finished=False,
                                file_priorities=[], trackers=[])
        state.torrents = [torrent]
        (self.state / "torrents.state").write_bytes(pickle.dumps(state, 2))
        (self.state / f"{content.hash}.torrent").write_bytes(content.torrent)
        (self.state / "torrents.fastresume").write_bytes(b"de")

    def command(self):
        off = dict.fromkeys(["dht", "upnp", "natpmp", "lsd", "utpex", "random_port", "new_release_check"], False)
        settings = {**off, "listen_interface": "127.0.0.1", "listen_ports": [self.peer_port] * 2, "enabled_plugins": []}
        (self.folder / "core.conf").write_text(json.dumps({"file": 1, "format": 1}) + json.dumps(settings))
        return ["deluged", "-d", "-c", str(self.folder), "-p", str(self.port), "-L", "info"]

    def answers(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.peer_port)) == 0 or None


def check_deluge(folder):
    """Deluge has the resume files of libtorrent in one file: docs/clients.md says how to take them apart."""
    content = Content(folder / "downloads")
    client = Deluge(folder / "client")
    client.put(content)
    guide = (BUILD.parent / "docs/clients.md").read_text()
    script = re.search(r"^cd ~/.config/deluge/state\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)[1]
    (folder / "bin").mkdir()
    (folder / "bin/hashloom").symlink_to(PROGRAM)
    path = os.pathsep.join([str(folder / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])

    def check():
        command = ["bash", "-c", script.replace("--libtorrent", f"--data '{content.folder}' --libtorrent")]
        environment = {**os.environ, "PATH": path}
        run = subprocess.run(command, cwd=client.state, env=environment, capture_output=True, text=True, check=False)
        expect(f"Deluge: what docs/clients.md says: {run.stderr}", run.returncode, 0)

    check()
    with client:
        expect("Deluge: a peer gets everything", downloaded(content, client.peer_port, folder / "peer"), True)
    content.flip("f.bin", 10)
    with client:
        whole = downloaded(content, client.peer_port, folder / "deceived peer")
        expect("Deluge: a peer gets damaged content, as it was not checked", whole, False)
    content.write()
    pieces = content.damage()
    check()
    with client:
        peer, handle, look = download(content, client.peer_port, folder / "peer of a part")
        wait("Deluge: a peer gets the right pieces", lambda: look() or list(handle.status().pieces) == pieces or None)
        del peer


def check_qbittorrent(folder):
    hashloom = Hashloom(folder)
    check_partial(QBittorrent, hashloom, folder / "partial")
    check_unfinished(QBittorrent, hashloom, folder / "unfinished", ".!qB",
                     {"BitTorrent": "Session\\AddExtensionToIncompleteFiles=true"})
    for version in ("hybrid", "v2"):
        (folder / version).mkdir()
        check_daemon(QBittorrent, hashloom, folder / version, version)
    check_random_daemon(QBittorrent, hashloom, folder / "random")
    client = check_daemon(QBittorrent, hashloom, folder)
    # A file that claims nothing makes the client check: this shows how a check would look.
    content = Content(folder / "second", "second", seed=2)
    content.flip("a.bin", 5)
    client.put(content)
    hashloom.verify(content, "--libtorrent", client.resume_folder(), status=1)
    entries = bdecode(client.resume_file(content).read_bytes())[0]
    del entries[b"pieces"]
    client.resume_file(content).write_bytes(bencode(entries))
    with client:
        _, pieces, _ = client.state(content)
        expect("qBittorrent: checks unclaimed pieces", pieces, [0] + [1] * (content.piece_count - 1))


def check_transmission(folder):
    hashloom = Hashloom(folder)
    check_partial(Transmission, hashloom, folder / "partial")
    own = folder / "unfinished"
    check_unfinished(Transmission, hashloom, own, ".part", {"incomplete-dir": str(own / "unfinished"),
                     "incomplete-dir-enabled": True, "rename-partial-files": True})
    check_random_daemon(Transmission, hashloom, folder / "random")
    check_daemon(Transmission, hashloom, folder)
    # Transmission takes padding files for files, and would send bytes that do not exist. (Version 3.00 refuses hybrid
    # torrents.)
    (folder / "padded").mkdir()
    client = Transmission(folder / "padded")
    content = Content(folder / "third", "third", seed=3, version="padded v1")
    client.put(content)
    hashloom.verify(content, "--transmission", client.resume_folder())
    padded = {piece for file, data in content.files.items() if len(data) % PIECE
              for piece in content.pieces_of(file, len(data) - 1, len(data))}
    with client:
        client.expect(content, [int(piece not in padded) for piece in range(content.piece_count)], "padded")
    # A wrong padding file is not claimed, and not replaced; once it is away, all are made.
    pads = content.path(".pad")
    pads.mkdir()
    wrong = pads / str(-len(content.files["a.bin"]) % PIECE)
    wrong.write_bytes(bytes(int(wrong.name) - 1) + b"x")
    told = hashloom.verify(content, "--transmission", client.resume_file(content))
    expect(f"Transmission, wrong padding: a note: {told}", "missing or not of zeros" in told, True)
    with client:
        client.expect(content, [int(piece not in padded) for piece in range(content.piece_count)], "wrong padding")
    hashloom.verify(content, "--transmission", client.resume_file(content), "--padding-files", status=2)
    wrong.unlink()
    hashloom.verify(content, "--transmission", client.resume_file(content), "--padding-files")
    with client:
        client.expect(content, [1] * content.piece_count, "padding files made")
        is_new = not client.rpc("session-get")["version"].startswith("3.")
    # Version 3.00 refuses hybrid torrents.
    for number, is_made in enumerate([False, True] if is_new else []):
        place = folder / f"hybrid {number}"
        place.mkdir()
        client = Transmission(place)
        content = Content(place / "downloads", f"hybrid {number}", seed=4, version="hybrid")
        content.hash, _ = torrents.info_hashes(lt.torrent_info(lt.bdecode(content.torrent)))
        client.put(content)
        hashloom.verify(content, "--transmission", client.resume_folder(), *["--padding-files"] * is_made)
        padded = {piece for file, data in content.files.items() if len(data) % PIECE and not is_made
                  for piece in content.pieces_of(file, len(data) - 1, len(data))}
        with client:
            client.expect(content, [int(piece not in padded) for piece in range(content.piece_count)], content.name)
    # Transmission checks a file that was changed after the check again, piece by piece, before a peer gets any of it.
    (folder / "later").mkdir()
    client = Transmission(folder / "later")
    content = Content(folder / "second", "second", seed=2)
    client.put(content)
    hashloom.verify(content, "--transmission", client.resume_folder())
    content.flip("f.bin", 10, later=True)
    with client:
        client.expect(content, [1] * content.piece_count, "changed after the check")
        peer, _, look = download(content, client.peer_port, folder / "peer of later")

        def noticed():
            look()  # while `peer` lives
            return client.info(content)["errorString"] or None

        error = wait("Transmission notices a later change", noticed)
        expect(f"Transmission notices a later change: {error}", "orrupt" in error or "erify" in error, True)


def main():
    global PROGRAM
    parser = checks.parser(__doc__)
    parser.add_argument("--only", default="", help="only the client whose name begins with ONLY")
    arguments = parser.parse_args()
    global SEED
    SEED = int(os.environ.get("HASHLOOM_SEED", "1"))
    PROGRAM, checks.is_required = arguments.hashloom.resolve(), arguments.require
    # Clients that tools/setup.sh has put into the build folder.
    os.environ["PATH"] += f"{os.pathsep}{BUILD}/clients/usr/bin"
    # End the clients when this program is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED: ended by a signal"))

    # The peer of the daemons is libtorrent too.
    for check, client in ((check_libtorrent, "libtorrent"), (check_qbittorrent, "qbittorrent-nox"),
                          (check_transmission, "transmission-daemon")):
        if client.startswith(arguments.only.lower()):
            checks.run_part(check, ["libtorrent", client])
    if not checks.has("deluged"):
        print("SKIPPED: deluged is not installed: it did not take hashloom's files")
    elif "deluged".startswith(arguments.only.lower()):
        checks.run_part(check_deluge, ["libtorrent"])
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
