# SPDX-License-Identifier: MIT OR Apache-2.0
"""The structures of Arrow's C interfaces, with every pointer as a number, and where a capsule has one."""

import ctypes

Pointer = ctypes.c_void_p
Integer = ctypes.c_int64


class Schema(ctypes.Structure):
    _fields_ = [("format", Pointer), ("name", Pointer), ("metadata", Pointer), ("flags", Integer),
                ("n_children", Integer), ("children", Pointer), ("dictionary", Pointer), ("release", Pointer),
                ("private_data", Pointer)]


class Array(ctypes.Structure):
    _fields_ = [("length", Integer), ("null_count", Integer), ("offset", Integer), ("n_buffers", Integer),
                ("n_children", Integer), ("buffers", Pointer), ("children", Pointer), ("dictionary", Pointer),
                ("release", Pointer), ("private_data", Pointer)]


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", Pointer), ("get_next", Pointer), ("get_last_error", Pointer), ("release", Pointer),
                ("private_data", Pointer)]


def in_capsule(structure, capsule):
    """The structure in a capsule."""
    name = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}[structure]
    place = ctypes.pythonapi.PyCapsule_GetPointer
    place.restype, place.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    return structure.from_address(place(capsule, name))
