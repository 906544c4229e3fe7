#!/usr/bin/env python3
"""A Fairlead worker that needs nothing but Python 3.

It runs jobs of the kind "count": args {"to": 5, "pause": 0.1} count to 5 with a
pause after each step. {"fail": "why"} makes it fail, {"fatal": "why"} fail for good.

    FAIRLEAD_TOKEN=… python3 worker.py http://127.0.0.1:7717

The protocol is in docs/workers.md.
"""

import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

SLOTS = 2


class LeaseLost(Exception):
    """The job, or the whole worker, has been taken away."""


class Stopped(Exception):
    """The job is to stop."""


class Released(Exception):
    """The job is given back: another worker is to go on with it."""


class Worker:
    """One life of the worker: from joining to leaving."""

    kinds = ["count"]

    def __init__(self, server, token):
        self.server, self.token = server, token
        self.lock = threading.Lock()
        self.stops = {}  # (id, fence) of each running job → Event that asks it to stop
        self.lost = threading.Event()
        self.leaving = threading.Event()
        joined = self.call("POST", "", {"name": "worker.py", "kinds": self.kinds, "slots": SLOTS, "version": "1"})
        self.path, self.session = "/" + joined["id"], joined["session"]
        self.lease, self.beat = seconds(joined["lease"]), seconds(joined["beat"])
        print("joined", joined["id"], flush=True)

    def call(self, verb, what, body, timeout=30):
        """Makes a call and returns its answer."""
        request = urllib.request.Request(
            self.server + "/api/v1/workers" + what,
            method=verb,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code in (403, 409) and what:
                raise LeaseLost(text) from error
            if error.code == 401:
                raise RuntimeError(f"401 {error.reason}: set FAIRLEAD_TOKEN to a token of the server") from error
            if error.code >= 500:
                raise OSError(text) from error  # as if it could not be reached
            raise RuntimeError(f"{verb} {what}: {error.code}: {text}") from error

    def send(self, what, timeout=30, **fields):
        """Makes a call that only this worker may make."""
        return self.call("POST", f"{self.path}/{what}", {"session": self.session, **fields}, timeout)

    def keep_beating(self, ended):
        """Confirms the lease, and passes on which jobs are to stop.

        If the lease cannot be confirmed in time, all jobs stop: another node is
        about to run them.
        """
        confirmed = time.monotonic()
        while not ended.is_set():
            sent = time.monotonic()
            try:
                with self.lock:
                    heard = [{"id": i, "fence": f} for (i, f), stop in self.stops.items() if stop.is_set()]
                # It waits for a wish on the server, so that one is heard at once.
                answer = self.send("beat", timeout=self.lease / 2, wait=f"{self.beat}s", heard=heard)
                confirmed = sent
                for job in answer.get("cancel", []):
                    with self.lock:
                        stop = self.stops.get((job["id"], job["fence"]))
                    if stop:
                        stop.set()
            except LeaseLost:
                break
            except (OSError, RuntimeError) as error:
                print("beat:", error, file=sys.stderr, flush=True)
                if time.monotonic() - confirmed > self.lease * 3 / 4:
                    break
                ended.wait(self.beat / 4)
        if not ended.is_set():
            self.lost.set()
            with self.lock:
                for stop in self.stops.values():
                    stop.set()

    def run(self, job):
        """Runs one job and settles it."""
        held = (job["id"], job["fence"])
        with self.lock:
            stop = self.stops[held]
        end = {"id": job["id"], "fence": job["fence"]}
        try:
            end.update(outcome="succeed", output=self.handle(job, stop))
        except Released:
            end.update(outcome="release")
        except Fatal as error:
            end.update(outcome="fatal", error=str(error))
        except Exception as error:  # it is tried again, if the job says so
            end.update(outcome="fail", error=str(error) or type(error).__name__)
        self.settle([end])
        with self.lock:
            del self.stops[held]

    def settle(self, ends):
        """Insists until the server has answered. Doing it twice is fine."""
        while not self.lost.is_set():
            try:
                for result in self.send("settle", settlements=ends)["results"]:
                    print("job", result["id"], result.get("state", result["result"]), flush=True)
                return
            except LeaseLost:
                return
            except (OSError, RuntimeError) as error:
                print("settle:", error, file=sys.stderr, flush=True)
                self.lost.wait(1)

    def release_unknown(self):
        """Gives back jobs that were leased by a call whose answer was lost."""
        try:
            held = self.send("leases")["items"]
        except (LeaseLost, OSError, RuntimeError):
            return  # after the next lease that fails there is another chance
        with self.lock:
            unknown = [job for job in held if (job["id"], job["fence"]) not in self.stops]
        if unknown:
            self.settle([{**job, "outcome": "release"} for job in unknown])

    def handle(self, job, stop):
        """Is the work itself: counting."""
        args = job.get("args") or {}
        if "fatal" in args:
            raise Fatal(args["fatal"])
        if "fail" in args:
            raise ValueError(args["fail"])
        print("counting", job["id"], "attempt", job["attempt"], flush=True)
        for n in range(1, args.get("to", 3) + 1):
            if stop.wait(args.get("pause", 0.1)):
                raise Stopped("it was asked to stop")
            self.send("progress", job=job["id"], fence=job["fence"], progress={"counted": n})
        return {"counted": args.get("to", 3)}

    def work(self, leaving):
        """Leases jobs into free slots until the worker is to leave."""
        self.leaving = leaving
        ended = threading.Event()
        beats = threading.Thread(target=self.keep_beating, args=(ended,))
        beats.start()
        runs = []
        while not leaving.is_set() and not self.lost.is_set():
            runs = [run for run in runs if run.is_alive()]
            try:
                # Where no slot is free the call waits for one.
                jobs = self.send("lease", wait="5s").get("jobs", [])
            except LeaseLost:
                break
            except (OSError, RuntimeError) as error:
                print("lease:", error, file=sys.stderr, flush=True)
                leaving.wait(1)
                self.release_unknown()
                continue
            for job in jobs:
                with self.lock:
                    self.stops[(job["id"], job["fence"])] = threading.Event()
                run = threading.Thread(target=self.run, args=(job,))
                run.start()
                runs.append(run)
        for run in runs:
            run.join()
        ended.set()
        beats.join()
        self.leave()

    def leave(self):
        """Leaves, also after the lease was lost: who leaves has not crashed.

        A server that is away may not have noticed yet. It is waited for, unless the
        program is to end.
        """
        while True:
            try:
                self.call("DELETE", self.path, {"session": self.session})
                print("left", flush=True)
                return
            except LeaseLost:
                return  # it is taken for dead already
            except (OSError, RuntimeError) as error:
                print("leave:", error, file=sys.stderr, flush=True)
                if isinstance(error, RuntimeError) or self.leaving.wait(1):
                    return


class Fatal(Exception):
    """The job fails for good."""


def seconds(text):
    """Reads a duration such as "2.5s"."""
    return float(text.removesuffix("s"))


def main(worker=Worker):
    leaving, life = threading.Event(), None

    def leave(*_):
        leaving.set()
        # Not by print: the signal may have interrupted one.
        os.write(1, f"leaving; jobs that still run: {len(life.stops) if life else 0}\n".encode())

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, leave)
    server = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7717"
    while not leaving.is_set():
        try:
            life = worker(server.rstrip("/"), os.environ.get("FAIRLEAD_TOKEN"))
            life.work(leaving)
        except RuntimeError as error:
            sys.exit(f"join: {error}")
        except OSError as error:
            print("join:", error, file=sys.stderr, flush=True)
            leaving.wait(1)


if __name__ == "__main__":
    main()
