// Stores jobs with graphile-worker. The first line has the settings, each
// further one a batch. A batch is answered once it is durable.
import { makeWorkerUtils } from "graphile-worker";
import { lines, logger, micros, openPool, report } from "./lines.mjs";

const input = lines();
const settings = JSON.parse((await input.next()).value);
const pool = openPool(settings);
const utils = await makeWorkerUtils({ pgPool: pool, logger });
await utils.migrate();
report({ ready: true });

for await (const line of input) store(JSON.parse(line));
await utils.release();
await pool.end();

async function store({ id, jobs }) {
  try {
    if (jobs.length === 1) await storeOne(jobs[0]);
    else await storeMany(jobs);
    report({ stored: id });
  } catch (error) {
    report({ stored: id, error: String(error) });
  }
}

// Many are stored by the SQL function behind utils.addJobs, which is public as
// well. Asking it for a count only, and not for the rows, takes half the time.
async function storeMany(jobs) {
  const specs = jobs.map((payload) => ({ identifier: "bench", payload }));
  await pool.query({
    name: "store",
    text: `select count(*) from graphile_worker.add_jobs(
      array(select json_populate_recordset(null::graphile_worker.job_spec, $1)))`,
    values: [JSON.stringify(specs)],
  });
}

// A job whose wait is measured gets its instant here, so that the way to this
// process is not part of the wait.
async function storeOne(payload) {
  if (payload.at) payload.at = micros();
  await utils.addJob("bench", payload);
}
