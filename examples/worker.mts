#!/usr/bin/env node
/**
 * A Fairlead worker that needs nothing but Node.js.
 *
 * It runs jobs of the kind "count": args {"to": 5, "pause": 0.1} count to 5 with a pause
 * after each step. {"fail": "why"} makes it fail, {"fatal": "why"} fail for good.
 *
 *     FAIRLEAD_TOKEN=… node examples/worker.mts http://127.0.0.1:7717
 *
 * Node.js 22.18 or newer runs it as it is: it erases the types. For an older one, from 18
 * on, erase them first:
 *
 *     go tool -modfile=tools/typescript/go.mod esbuild examples/worker.mts --outfile=worker.mjs
 *     FAIRLEAD_TOKEN=… node worker.mjs http://127.0.0.1:7717
 *
 * The protocol is in docs/workers.md.
 */

import { setTimeout as pause } from "node:timers/promises";

const SLOTS = 2;

type Joined = { id: string; session: string; lease: string; beat: string };
type Held = { id: string; fence: string };
type Args = { to?: number; pause?: number; fail?: string; fatal?: string };
type Job = Held & { kind: string; args?: Args; attempt: number };
type Settlement = Held & { outcome: "succeed" | "fail" | "fatal" | "release"; output?: unknown; error?: string };

/** The job, or the whole worker, has been taken away. */
class LeaseLost extends Error {}

/** The job fails for good. */
class Fatal extends Error {}

/** An answer that makes no sense to repeat. */
class Refused extends Error {}

/** Makes a call and returns its answer. */
async function call<T>(verb: string, what: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  const token = process.env.FAIRLEAD_TOKEN;
  if (token) headers["Authorization"] = "Bearer " + token;
  const answer = await fetch(server + "/api/v1/workers" + what, { method: verb, headers, body: JSON.stringify(body), signal });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as T;
  if ((answer.status === 403 || answer.status === 409) && what) throw new LeaseLost(text);
  if (answer.status === 401) throw new Refused(`401 ${answer.statusText}: set FAIRLEAD_TOKEN to a token of the server`);
  if (answer.status >= 500) throw new Error(text); // as if it could not be reached
  throw new Refused(`${verb} ${what}: ${answer.status}: ${text}`);
}

/** One life of the worker: from joining to leaving. */
class Worker {
  #path: string;
  #session: string;
  #lease: number; // in milliseconds
  #beat: number;
  #lost = new AbortController(); // another node is about to run the jobs
  #ended = new AbortController(); // the last job has ended
  #stops = new Map<string, AbortController>(); // id and fence of each running job → what asks it to stop

  constructor(joined: Joined) {
    this.#path = "/" + joined.id;
    this.#session = joined.session;
    this.#lease = milliseconds(joined.lease);
    this.#beat = milliseconds(joined.beat);
  }

  static async join(): Promise<Worker> {
    const who = { name: "worker.mts", kinds: ["count"], slots: SLOTS, version: "1" };
    const joined = await call<Joined>("POST", "", who, AbortSignal.timeout(30_000));
    console.log("joined", joined.id);
    return new Worker(joined);
  }

  /** Makes a call that only this worker may make. */
  #send<T>(what: string, fields: object, timeout = 30_000): Promise<T> {
    return call<T>("POST", `${this.#path}/${what}`, { session: this.#session, ...fields }, AbortSignal.timeout(timeout));
  }

  /**
   * Confirms the lease, and passes on which jobs are to stop. If the lease cannot be
   * confirmed in time all jobs stop: another node is about to run them.
   */
  async #keepBeating(): Promise<void> {
    let confirmed = performance.now();
    while (!this.#ended.signal.aborted) {
      const sent = performance.now();
      try {
        const heard = [...this.#stops].filter(([, stop]) => stop.signal.aborted).map(([held]) => JSON.parse(held) as Held);
        // It waits for a wish on the server, so that one is heard at once.
        const wait = `${this.#beat / 1000}s`;
        const answer = await this.#send<{ cancel?: Held[] }>("beat", { wait, heard }, this.#lease / 2);
        confirmed = sent;
        for (const job of answer.cancel ?? []) this.#stops.get(key(job))?.abort();
      } catch (error) {
        if (error instanceof LeaseLost) break;
        console.error("beat:", String(error));
        if (performance.now() - confirmed > (this.#lease * 3) / 4) break;
        await sleep(this.#beat / 4, this.#ended.signal);
      }
    }
    if (this.#ended.signal.aborted) return;
    this.#lost.abort();
    for (const stop of this.#stops.values()) stop.abort();
  }

  /** Runs one job and settles it. */
  async #run(job: Job, stop: AbortSignal): Promise<void> {
    const held = { id: job.id, fence: job.fence };
    let end: Settlement;
    try {
      end = { ...held, outcome: "succeed", output: await this.#handle(job, stop) };
    } catch (error) {
      // One that fails is tried again, if the job says so.
      const reason = error instanceof Error ? error.message : String(error);
      end = { ...held, outcome: error instanceof Fatal ? "fatal" : "fail", error: reason };
    }
    await this.#settle([end]);
    this.#stops.delete(key(job));
  }

  /** Insists until the server has answered. Doing it twice is fine. */
  async #settle(settlements: Settlement[]): Promise<void> {
    while (!this.#lost.signal.aborted) {
      try {
        const answer = await this.#send<{ results: { id: string; state?: string; result: string }[] }>("settle", { settlements });
        for (const result of answer.results) console.log("job", result.id, result.state ?? result.result);
        return;
      } catch (error) {
        if (error instanceof LeaseLost) return;
        console.error("settle:", String(error));
        await sleep(1000, this.#lost.signal);
      }
    }
  }

  /** Gives back jobs that were leased by a call whose answer was lost. */
  async #releaseUnknown(): Promise<void> {
    try {
      const held = await this.#send<{ items: Held[] }>("leases", {});
      const unknown = held.items.filter((job) => !this.#stops.has(key(job)));
      if (unknown.length > 0) await this.#settle(unknown.map(({ id, fence }) => ({ id, fence, outcome: "release" })));
    } catch {
      // After the next lease that fails there is another chance.
    }
  }

  /** Is the work itself: counting. */
  async #handle(job: Job, stop: AbortSignal): Promise<unknown> {
    const args = job.args ?? {};
    if (args.fatal !== undefined) throw new Fatal(args.fatal);
    if (args.fail !== undefined) throw new Error(args.fail);
    console.log("counting", job.id, "attempt", job.attempt);
    const to = args.to ?? 3;
    for (let n = 1; n <= to; n++) {
      await sleep((args.pause ?? 0.1) * 1000, stop);
      if (stop.aborted) throw new Error("it was asked to stop");
      await this.#send("progress", { job: job.id, fence: job.fence, progress: { counted: n } });
    }
    return { counted: to };
  }

  /** Leases jobs into free slots until the worker is to leave. */
  async work(): Promise<void> {
    const beats = this.#keepBeating();
    const runs = new Set<Promise<void>>();
    while (!leaving.signal.aborted && !this.#lost.signal.aborted) {
      let jobs: Job[];
      try {
        // Where no slot is free the call waits for one.
        jobs = (await this.#send<{ jobs?: Job[] }>("lease", { wait: "5s" })).jobs ?? [];
      } catch (error) {
        if (error instanceof LeaseLost) break;
        console.error("lease:", String(error));
        await sleep(1000, leaving.signal);
        await this.#releaseUnknown();
        continue;
      }
      for (const job of jobs) {
        const stop = new AbortController();
        this.#stops.set(key(job), stop);
        const run: Promise<void> = this.#run(job, stop.signal).finally(() => runs.delete(run));
        runs.add(run);
      }
    }
    await Promise.all(runs);
    this.#ended.abort();
    await beats;
    await this.#leave();
  }

  /**
   * Leaves, also after the lease was lost: who leaves has not crashed. A server that is
   * away may not have noticed yet. It is waited for, unless the program is to end.
   */
  async #leave(): Promise<void> {
    for (;;) {
      try {
        await call("DELETE", this.#path, { session: this.#session }, AbortSignal.timeout(30_000));
        console.log("left");
        return;
      } catch (error) {
        if (error instanceof LeaseLost) return; // it is taken for dead already
        console.error("leave:", String(error));
        if (error instanceof Refused) return;
        await sleep(1000, leaving.signal);
        if (leaving.signal.aborted) return;
      }
    }
  }

  /** Is how many jobs run. */
  get running(): number {
    return this.#stops.size;
  }
}

/** Names a job of one fence. */
function key(job: Held): string {
  return JSON.stringify({ id: job.id, fence: job.fence });
}

/** Reads a duration such as "2.5s". */
function milliseconds(text: string): number {
  return Number.parseFloat(text) * 1000;
}

/** Waits, or returns when the signal comes. */
async function sleep(duration: number, signal: AbortSignal): Promise<void> {
  await pause(duration, undefined, { signal }).catch(() => undefined);
}

const server = (process.argv[2] ?? "http://127.0.0.1:7717").replace(/\/+$/, "");
const leaving = new AbortController();
let life: Worker | undefined;
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    leaving.abort();
    console.log("leaving; jobs that still run:", life?.running ?? 0);
  });
}
while (!leaving.signal.aborted) {
  try {
    life = await Worker.join();
    await life.work();
  } catch (error) {
    if (error instanceof Refused) {
      console.error("join:", error.message);
      process.exitCode = 1;
      break;
    }
    console.error("join:", String(error));
    await sleep(1000, leaving.signal);
  }
}
