// What the programs of this directory share: lines of JSON in and out, and how
// they connect.
import { createInterface } from "node:readline";
import { Logger } from "graphile-worker";
import pg from "pg";

// lines are what the comparison writes. They end when it closes the pipe or dies.
export function lines() {
  return createInterface({ input: process.stdin, crlfDelay: Infinity })[Symbol.asyncIterator]();
}

// report writes one line to the comparison.
export function report(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

// micros is a clock that all processes of this machine share.
export function micros() {
  return Number(process.hrtime.bigint() / 1000n);
}

// logger keeps errors only: the log of each job would be measured too, and the
// other contestants write none.
export const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

// openPool connects to the database. A connection that fails while it is idle
// ends the process: the measurement is spoiled then.
export function openPool(settings) {
  const pool = new pg.Pool({ connectionString: settings.url, max: settings.options.maxPoolSize });
  const fail = (error) => {
    throw error;
  };
  pool.on("error", fail);
  pool.on("connect", (client) => client.on("error", fail));
  return pool;
}
