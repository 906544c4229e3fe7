#!/usr/bin/env python3
"""A Fairlead worker that goes over sweeps, with nothing but Python 3.

It handles the items of sweeps of the kind "greet" over a range of indexes, one
after the other. Args {"bad": [7]} make item 7 fail.

    FAIRLEAD_TOKEN=… python3 sweep_worker.py http://127.0.0.1:7717

The protocol is in docs/workers.md. What all workers do is in worker.py.
"""

import time

from worker import Released, Stopped, Worker, main, seconds

SAVE_EVERY = 0.8  # seconds; a stop must be heard within one


class Sweeper(Worker):
    """A worker whose jobs are parts of sweeps."""

    kinds = ["sweep.greet"]

    def handle(self, job, stop):
        """Goes over one part of a sweep."""
        Shard(self, job, stop).go()


class Shard:
    """A run over a part of a sweep."""

    def __init__(self, worker, job, stop):
        self.worker, self.job, self.stop = worker, job, stop
        loaded = self.send("shard")
        self.sweep, self.ended = loaded["sweep"], loaded.get("ended", False)
        self.mark, self.to = int(loaded["mark"]), int(loaded["to"])
        self.done, self.abandoned, self.errors = (int(loaded[name]) for name in ("done", "abandoned", "errors"))
        self.again = int(loaded.get("again", 0))
        self.failed, self.redone = [], []  # since the last save
        self.due = time.monotonic()  # when the next item may begin
        self.forgiven = not job.get("crashes")

    def send(self, what, **fields):
        """Insists until the server has answered. Nothing is begun meanwhile."""
        while not self.stop.is_set():
            try:
                return self.worker.send(what, job=self.job["id"], fence=self.job["fence"], **fields)
            except OSError as error:
                print(f"{what}:", error, flush=True)
                self.stop.wait(0.5)
        raise Stopped("it was asked to stop")

    def save(self):
        """Reports how far the run has come, and returns with what to do next."""
        self.orders = self.send(
            "checkpoint",
            mark=self.mark,
            done=self.done,
            abandoned=self.abandoned,
            errors=self.errors,
            again=self.again,
            failed=self.failed,
            redone=self.redone,
            ended=self.ended,
        )
        self.failed, self.redone = [], []
        self.saved = time.monotonic()

    def may_begin(self):
        """Waits until another item may begin. False: the sweep stops."""
        while not self.orders["stop"]:
            if self.worker.leaving.is_set():
                self.save()
                raise Released()
            now = time.monotonic()
            if now - self.saved >= SAVE_EVERY:
                self.save()
                continue
            if self.orders["in_flight"] > 0 and now >= self.due:
                rate = self.orders["rate"]
                self.due = max(self.due, now - 0.1) + (1 / rate if rate else 0)
                return True
            nap = self.due - now if self.orders["in_flight"] > 0 else 0.1
            self.stop.wait(min(max(nap, 0), SAVE_EVERY / 4))
        return False

    def go(self):
        """Handles the items in order, so that the mark is all that is to be kept."""
        if self.ended:
            return
        if "source" in self.sweep:
            self.send("items", stop="this worker goes over indexes only")
            return
        self.save()
        for index in self.recalled():
            done = self.handle(index)
            if done is None:
                break
            self.again -= 1
            if done:
                self.abandoned -= 1
                self.redone.append(index)
        while self.mark < self.to and not self.again:
            done = self.handle(self.mark)
            if done is None:
                break
            self.mark += 1
            self.abandoned += not done
            if not self.forgiven:
                # It has come further: what it was in was no fault of the job.
                self.send("progress", progress={"mark": self.mark})
                self.forgiven = True
        self.ended = self.mark == self.to and not self.again
        self.save()

    def recalled(self):
        """Are the items that failed before and are to be tried again."""
        index = 0
        while self.again:
            page = self.send("retries", **{"from": index}).get("indexes", [])
            if not page:
                self.again = 0
            for text in page:
                index = int(text) + 1
                yield int(text)

    def handle(self, index):
        """Tries an item as often as the sweep says, and reports whether it is done.

        None: the sweep stops before.
        """
        for attempt in range(1, self.sweep["attempts"] + 1):
            if not self.may_begin():
                return None
            try:
                greet(index, self.orders.get("args") or {})
                self.done += 1
                return True
            except ValueError as error:
                self.errors += 1
                self.due = time.monotonic() + seconds(self.sweep["backoff"])
                reason = str(error)
        if self.sweep["on_exhausted"] == "stop" or self.orders["budget_left"] == "0":
            self.send("items", stop=f"item {index}: {reason}")
            return None
        self.failed.append({"index": index, "attempts": attempt, "error": reason})
        self.saved = 0  # what is left of the budget is to be known before the next
        return False


def greet(index, args):
    """Is the work itself. An item may come twice after a crash."""
    if index in args.get("bad", []):
        raise ValueError("it is bad")
    print("greeting", index, flush=True)


if __name__ == "__main__":
    main(Sweeper)
