"""Which of the saves are complete, so that a team can begin with them."""

from __future__ import annotations

from dosdt.workers.papers import epoch_of


class Saves:
    """Counts who has saved what.

    A save counts once all of a team have made it, in the same step and to the same shards: when one is replaced, what
    was saved to the old one is gone.

    Parameters
    ----------
    whole : bool
        Whether what all members save in one step is all there is to know; else each fact holds by itself.

    Attributes
    ----------
    usable : bool
        Whether a team can begin with what the shards hold.
    since : int
        The number of the list of shards in use.
    """

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.usable = False
        self.since = 1
        self._epoch = self._size = self._last = 0
        self._who: dict[int, set[int]] = {}

    def begin(self, epoch: int, size: int) -> None:
        """Take note of a new team."""
        self._epoch, self._size, self._who = epoch, size, {}

    def shard_replaced(self) -> None:
        """Take in that some shard is another one from now on."""
        self.since += 1
        self._who = {}
        # Facts that were lost cost work; of a whole that lost a part nothing can be used.
        self.usable = self.usable and not self.whole

    def complete(self, generation: int, since: int, number: int) -> bool:
        """Take in that a member has saved; return whether all have now."""
        if epoch_of(generation) != self._epoch or generation <= self._last or since != self.since:
            return False
        self.usable |= not self.whole
        who = self._who.setdefault(generation, set())
        who.add(number)
        if len(who) < self._size:
            return False
        self._who = {later: who for later, who in self._who.items() if later > generation}
        self._last = generation
        return True
