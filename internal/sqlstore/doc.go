// Package sqlstore contains the code that the SQL stores share. It loads statements,
// migrates the schema, caches lanes and IDs, wakes nodes, and converts rows to jobs. It is
// independent of database drivers.
//
// # Shared features
//
// Features that are not performance-critical are implemented here, on Database and DB, and
// embedded by the stores as Features: tokens, the audit log, secrets, pauses, calendars,
// alerts, batches, sweeps, tenants, usage, explanations. Their statements are fields of structs that the
// stores embed in their own, so that names and arguments match. Statements that all databases
// execute alike are common ones, in sql/*.sql of this package; the others are in sql/*.sql of
// each store. All document the locks they take. Code that claims, settles and stores jobs is
// written separately for each database.
//
// # Tables
//
// A job's identity and input are written once, in job. The place table that holds its id is
// the job's state. Every move is a delete that must hit its row plus an insert, in one
// transaction. Times are microseconds since 1970; 0 means not set.
//
//	job      id, lane, turn, start_by, not_before, created_at, job_key, flags, policy, trace, args, gate
//	lane     id, queue, tenant, kind                    created on first use, removed when unused for long
//	later    id, lane, not_before, attempt, failures, crashes                      scheduled
//	ready    (lane, solo, turn, start_by, id), attempt, failures, crashes    ready
//	parked   (gate, turn, start_by, id), lane, attempt, failures, crashes     due, without a place at its gate
//	running  id, fence, node, lane, attempt, failures, crashes, started_at, wish, answer, held
//	waiting  id, fence, node, lane, attempt, failures, crashes, started_at, deadline, held
//	done     id, lane, outcome, reason, fence, node, attempt, failures, crashes, started_at, finished_at, output, error
//	attempt  (id, run), fence, node, started_at, finished_at, reason, error  runs worth recording
//	memo     id, memo, progress, told, told_fence       data of handlers, and reports of targets about a run;
//	         released                                   a run was released after its handler had begun
//	jobkey   (tenant, job_key) → id                        held keys
//	admitted (gate, id)                                 jobs that have a place at a gate
//	gate_news gate                                      gates that may have a job to admit
//	node     id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead, left_at
//	pause    (scope, name)
//	tenant   name, parent, max_pending, weight, labels, start_url, fail_url, timeout_url, version, created_at, updated_at
//	quota    id, scope, name, cap, least, rate, burst, per_key, start_order, used, tokens, refilled_at   limits, including those of tenants
//	quota_delta quota, n                                freed slots that quota still counts
//	starts   (bucket, tenant), started, missed          of the last minute
//	fair_start (bucket, node, scope, tenant), started   of the last minute, where tenants share starts
//	token    id, name, hash, role, tenants, created_at, expires_at, last_used
//	audit    id, at, actor, role, address, action, subject, tenant, was, became, error
//	once     (caller, once_key) → request, job_ids, created_at   answered requests
//	secret   name → value
//	schedule id, name, tenant, calendar, enabled, body, version, created_at, updated_at, deleted_at, due, fire_at, last_…, skipped, standing
//	fire     job, schedule, due, source, made_by, number, skip, queued, open, state, ended_at   runs of schedules
//	calendar name, body, version
//	alert    name, scope, body, created_at, updated_at, standing   alert rules for jobs
//	alert_look id, version, looked_at, seen             the last look for events to report: one row
//	missed_start (bucket, queue, tenant, kind), jobs    late starts of the last hour
//	batch    id, name, type, queue, tenant, created_at, opened, open, ended_at, state, body, status
//	part     (batch, number), pass, kind, first, size, held, out, marks   a chunk: some tasks of a batch and their states
//	part_task (batch, number) → tasks                   contents of the tasks, immutable
//	sweep    id, name, tenant, state, version, created_at, body, status
//	shard    (sweep, number), job, share_rate, share_slots, share_number, share_fence, peak_rate, peak_slots
//	shard_progress (sweep, number), from_index, to_index, mark, bits, pending, …   progress that its run stores once a second
//	failed_item (sweep, idx), attempts, error, at, again   failed items
//	sweep_log id, sweep, idx, level, text, at
//	sweep_event id, sweep, at, actor, action, was, became, note
//	migration version, step, name, applied_at
//
// turn is the negated priority, so that every key ascends. attempt is the number of the
// last run (0 before the first), failures counts the runs that count against the job's
// limit, and crashes counts the node deaths since the last progress. solo is 1 for a job
// reaped with at least driver.SoloAfter crashes. wish is the reason of a cancellation
// request, or null. answer is an answer that arrived before the job moved to waiting. held
// lists the limits that count the job. gate is a hash, see GateOf; MySQL has a table gate
// of rows to lock. SQLite has no held, used, quota_delta or gate_news: it counts running
// and waiting jobs, and admits in the same transaction.
//
// # Schedules
//
// A run is a job like any other and moves like one: the statements that move jobs do not
// involve schedules. fire records the schedule that created the run. A run is open until
// its schedule has seen its end. A transaction that acts on the schedule looks for open
// runs that have ended. A queued run is in later, due at fairlead.Never.
//
// PostgreSQL rewrites a row to change it. Its store therefore has separate tables: cursor
// for due, fire_at, enabled, last_…, skipped and standing, and open_fire for queued and
// open runs. It reads the end of a run from the run's job.
package sqlstore
