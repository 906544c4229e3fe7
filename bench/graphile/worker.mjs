// Runs jobs with graphile-worker. The first line has the settings, the second
// starts the work, and the end of the input ends it.
import { run } from "graphile-worker";
import { lines, logger, micros, openPool, report } from "./lines.mjs";

const input = lines();
const settings = JSON.parse((await input.next()).value);
const pool = openPool(settings);
pool.on("connect", reportCompleted);
report({ ready: true });

if ((await input.next()).done) {
  await pool.end();
  process.exit();
}
const runner = await run({
  pgPool: pool,
  preset: { worker: settings.options },
  taskList: { bench },
  parsedCronItems: [],
  noHandleSignals: true,
  logger,
});
const ended = (async () => {
  while (!(await input.next()).done);
})();
await Promise.race([ended, runner.promise]);
await runner.stop();
await pool.end();

// bench is the handler.
function bench(payload) {
  if (settings.starts) report({ waited: payload.at ? micros() - payload.at : 0 });
}

// reportCompleted reports how many jobs each statement has completed. The
// events of graphile-worker come before the statement: they do not say that
// the end of a job is durable.
function reportCompleted(client) {
  const query = client.query;
  client.query = function (...args) {
    const result = query.apply(this, args);
    if (args[0]?.name?.startsWith("complete_job")) {
      result.then(({ rowCount }) => report({ ended: rowCount }), () => {});
    }
    return result;
  };
}
