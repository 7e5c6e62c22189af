# SPDX-License-Identifier: MIT OR Apache-2.0
"""Torrents by libtorrent, for tests: what it makes, and what it finds. The package is libtorrent in PyPI, or Debian's
python3-libtorrent; `lt` is None without it."""

import sys
import time
import warnings

try:
    import libtorrent as lt
except ImportError:
    lt = None

# libtorrent's older interface, which all versions have.
warnings.simplefilter("ignore", DeprecationWarning)


def made(content, kind, piece_length, tracker=None, files=None):
    """The bytes of a torrent of a file or folder; with `files`, paths beside it, of these in this order."""
    make = lt.create_torrent
    flags = {"v1": make.v1_only, "padded v1": make.v1_only | make.canonical_files, "v2": make.v2_only, "hybrid": 0}
    storage = lt.file_storage()
    for file in files or ():
        stat = (content.parent / file).stat()
        storage.add_file(str(file), stat.st_size, lt.file_flags_t.flag_executable if stat.st_mode & 0o100 else 0)
    if files is None:
        lt.add_files(storage, str(content), flags=0)
    torrent = make(storage, piece_length, flags=flags[kind])
    if tracker:
        torrent.add_tracker(tracker)
    lt.set_piece_hashes(torrent, str(content.parent))
    return lt.bencode(torrent.generate())


def info_hashes(info):
    """The info-hashes of versions 1 and 2 of a torrent_info; None for one that it lacks."""
    hashes = info.info_hashes()
    return str(hashes.v1) if hashes.has_v1() else None, str(hashes.v2) if hashes.has_v2() else None


def session(**settings):
    """A session that reaches nobody, unless the settings say so."""
    off = dict.fromkeys(["enable_dht", "enable_lsd", "enable_upnp", "enable_natpmp", "enable_outgoing_utp"], False)
    return lt.session({"listen_interfaces": "", "alert_mask": lt.alert.category_t.all_categories, **off, **settings})


def found(place, folder, client):
    """How many bytes of a torrent's content the client finds below the folder, and how many there are; None if it
    cannot check. The client must not create or change files."""
    parameters = {"ti": lt.torrent_info(str(place)), "save_path": str(folder)}
    handle = client.add_torrent({**parameters, "flags": lt.torrent_flags.upload_mode})
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        status = handle.status()
        if status.errc.value() or status.state not in (status.checking_files, status.checking_resume_data):
            client.remove_torrent(handle)
            return None if status.errc.value() else (status.total_wanted_done, status.total_wanted)
        client.wait_for_alert(20)
        client.pop_alerts()
    sys.exit(f"FAILED: libtorrent checks {place} without end")
