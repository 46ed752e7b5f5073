"""Checks of the farm's log: no host or alias was requested twice at once or too soon."""

import collections

#: The longest pause that an answer's time leads to, in seconds.
MAX_ADAPTATION = 30


def assert_polite(log, delay, aliases=(), kills=()):
    """Fails if any group of hosts was requested twice at once, or before its pause was over; no tolerance.

    `delay` is in seconds, `aliases` has the members of each group, and `kills` the times at which the
    program was killed. A killed program cannot know how long an answer took or what it contained; it must still
    observe the configured pause, and any that it knew of before.
    """
    groups = {member: tuple(members) for members in aliases for member in members}
    visits = collections.defaultdict(list)
    for visit in log:
        visits[groups.get(visit.host, visit.host)].append(visit)
    pauses = []
    for all_of_group in visits.values():
        all_of_group.sort(key=lambda it: it.begun)
        busy_until, known = 0, Known()
        for before, visit in zip([None, *all_of_group], all_of_group):
            if before is None:
                busy_until = visit.ended
                continue
            killed = any(before.begun <= kill <= visit.begun for kill in kills)
            known.learn(before, killed)
            wanted = max(delay, known.crawl_delay(visit))
            if not killed and before.asked and not before.is_lost:
                wanted = max(wanted, min(5 * (before.ended - before.asked), MAX_ADAPTATION))
            pause = visit.begun - busy_until
            assert pause >= wanted, f"{pause:.6f} s, not {wanted:.6f} s, between\n  {before}\n  {visit}"
            assert visit.begun >= known.blocked.get(visit.host, 0), f"before its Retry-After was over:\n  {visit}"
            pauses.append(pause - wanted)
            busy_until = max(busy_until, visit.ended)
    return Summary(len(log), len(visits), min(pauses, default=0))


class Summary(collections.namedtuple("Summary", "requests groups margin")):
    def __str__(self):
        margin = f"{self.margin * 1000:.3f} ms"
        return f"{self.requests} requests to {self.groups} hosts, each pause at least {margin} longer than it had to be"


class Known:
    """The pauses that hosts of a group have requested."""

    def __init__(self):
        self.delays, self.blocked = {}, {}

    def learn(self, visit, killed):
        # It is unknown whether an answer at the moment of a kill was still read.
        if killed:
            return
        if visit.status in (429, 503) and visit.retry_after:
            self.blocked[visit.host] = visit.ended + visit.retry_after
        if visit.crawl_delay is not None:
            self.delays[visit.host] = visit.crawl_delay

    def crawl_delay(self, visit):
        return self.delays.get(visit.host, 0)

