# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests in pandas: ``import pyhashloom.pandas`` adds ``hashloom`` to series and frames. pyarrow is needed.

>>> import pandas as pd
>>> import pyhashloom.pandas
>>> frame = pd.DataFrame({"email": ["a@example.com", "b@example.com"]}, index=[7, 8])
>>> frame["email"].hashloom.sha256().str[:16].to_dict()
{7: '08168cd80dfd534a', 8: 'e8f39b3e1382367d'}
>>> frame["row"] = frame.hashloom.digest("sha256", key=b"a secret of 32 random bytes")

The methods are digest(name), md5(), sha1(), sha256(), sha512(), sha3_256() and sha3_512(); the parameters are those of
pyhashloom.column. A frame has one digest for each row. The results have the index of what was hashed; the index itself
is not hashed.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ._column import Methods
from ._convert import to_pandas
from ._hashloom import Column

__all__ = ["FrameDigests", "SeriesDigests"]


@pd.api.extensions.register_series_accessor("hashloom")
class SeriesDigests(Methods[Any]):
    """The digests of a series' values, in a series of the same index and name.

    >>> pd.Series(["abc"]).hashloom.md5()[0]
    '900150983cd24fb0d6963f7d28e17f72'
    """

    def __init__(self, series: Any) -> None:
        self._series = series

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> Any:
        return to_pandas(of(self._series), like=self._series)


@pd.api.extensions.register_dataframe_accessor("hashloom")
class FrameDigests(Methods[Any]):
    """A digest for each row of a frame, in a series of the same index.

    >>> len(pd.DataFrame({"x": ["a", "b"], "y": [1, 2]}).hashloom.sha256().unique())
    2
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> Any:
        return to_pandas(of(self._frame))
