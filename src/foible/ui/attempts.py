"""Wrong passwords: a few are free, then an address has to wait, longer each time; all addresses together have a rate."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

FREE = 5  # tries of one address before it has to wait
FIRST_WAIT, LONGEST_WAIT = 30.0, 900.0  # seconds; doubled with every try
FORGOTTEN = 3600.0  # seconds after which an address starts anew
MOST_A_MINUTE = 30  # tries of all addresses together
MOST_ADDRESSES = 10_000


@dataclass
class Attempts:
    """How often the password was tried, and by whom.

    A try counts from its beginning, so that many at once are as slow as one after the other.
    """

    clock: Callable[[], float] = time.monotonic
    _tries: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict)
    _latest: deque[float] = field(default_factory=deque)

    def begin(self, address: str) -> float:
        """Count a try of this address; gives the seconds it has to wait instead, 0 when it may try now."""
        now, who = self.clock(), network_of(address)
        tries, last = self._tries.get(who, (0, now))
        if now - last > FORGOTTEN:
            tries = 0
        while self._latest and now - self._latest[0] > 60:
            self._latest.popleft()
        wait = last + min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(tries - FREE, 20)) - now if tries >= FREE else 0.0
        if len(self._latest) >= MOST_A_MINUTE:
            wait = max(wait, self._latest[0] + 60 - now)
        if wait > 0:
            return wait
        self._tries[who] = (tries + 1, now)
        self._tries.move_to_end(who)
        while len(self._tries) > MOST_ADDRESSES:
            self._tries.popitem(last=False)
        self._latest.append(now)
        return 0.0

    def right(self, address: str) -> None:
        """The password was right: the address starts anew."""
        self._tries.pop(network_of(address), None)
        if self._latest:
            self._latest.pop()


def network_of(address: str) -> str:
    """Whom an address counts for: itself, or its /64 network where one owner has them all."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network(f"{known}/64", strict=False)) if known.version == 6 else str(known)
