#!/usr/bin/env python3
# python_peers.py: libtorrent and torf, which have Python interfaces, as commands.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""  python_peers.py libtorrent-verify THREADS FOLDER TORRENT...
  python_peers.py libtorrent-create v1|v2|hybrid PIECE_NBYTES CONTENT TORRENT
  python_peers.py torf-verify THREADS CONTENT TORRENT
  python_peers.py torf-create THREADS PIECE_NBYTES CONTENT TORRENT
  python_peers.py version libtorrent|torf

Verifying exits with 0 if all is complete, with 1 if not. The first line is the CPU seconds that Python took to start
and to load the library, so that they can be subtracted."""

import os
import sys
import time


def loaded():
    print("startup", time.process_time(), flush=True)


def libtorrent_verify(threads, folder, *torrents):
    import libtorrent as lt
    loaded()
    session = lt.session({
        "listen_interfaces": "", "enable_dht": False, "enable_lsd": False, "enable_upnp": False,
        "enable_natpmp": False, "hashing_threads": int(threads), "active_checking": len(torrents),
        "alert_mask": lt.alert.category_t.status_notification | lt.alert.category_t.error_notification})
    handles = []
    for torrent in torrents:
        parameters = lt.add_torrent_params()
        parameters.ti = lt.torrent_info(torrent)
        parameters.save_path = folder
        # Neither auto_managed, which would check one torrent after the other, nor paused, which would check none.
        parameters.flags = lt.torrent_flags.stop_when_ready
        handles.append(session.add_torrent(parameters))
    left = len(handles)
    while left > 0:
        session.wait_for_alert(1000)
        for alert in session.pop_alerts():
            if isinstance(alert, (lt.torrent_error_alert, lt.file_error_alert)):
                print(alert.message())
                return 1
            left -= isinstance(alert, lt.torrent_checked_alert)
    complete = all(handle.status().progress == 1.0 for handle in handles)
    print("complete" if complete else "incomplete")
    return 0 if complete else 1


def libtorrent_create(kind, piece_nbytes, content, torrent):
    import libtorrent as lt
    loaded()
    flags = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only, "hybrid": 0}[kind]
    files = lt.file_storage()
    lt.add_files(files, content)
    creator = lt.create_torrent(files, piece_size=int(piece_nbytes), flags=flags)
    lt.set_piece_hashes(creator, os.path.dirname(os.path.abspath(content)))
    with open(torrent, "wb") as out:
        out.write(lt.bencode(creator.generate()))
    return 0


def torf_verify(threads, content, torrent):
    import torf
    loaded()
    # If there is no callback, the first bad piece raises an exception.
    try:
        complete = torf.Torrent.read(torrent).verify(content, threads=int(threads))
    except torf.TorfError as error:
        print(error)
        complete = False
    return 0 if complete else 1


def torf_create(threads, piece_nbytes, content, torrent):
    import torf
    loaded()
    creator = torf.Torrent(path=content, piece_size=int(piece_nbytes), creation_date=None, created_by=None)
    creator.generate(threads=int(threads))
    creator.write(torrent, overwrite=True)
    return 0


def version(name):
    print(name, __import__(name).__version__, "(Python)")
    return 0


if __name__ == "__main__":
    status = globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
    sys.stdout.flush()
    # Closing connections and freeing caches that were never used is not part of the work.
    os._exit(status)
