-- Statements of Enqueue. They also run in the caller's transaction, at any
-- isolation level and with any session settings.

-- name: insert_jobs
-- Stores jobs, without their places.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{job}} (id, lane, turn, start_by, not_before, created_at, job_key, flags, policy, trace, args, gate)
values {{rows}};

-- name: insert_plain_jobs
-- Stores jobs with default values. Parsing a statement costs the server about as much
-- as storing its rows, so the other columns are left to their defaults.
-- Inputs: {{rows}} of id, lane, turn, start_by, created_at, args.
-- Output: none.
-- Locks: inserted rows.
insert into {{job}} (id, lane, turn, start_by, created_at, args) values {{rows}};

-- name: place_due
-- Makes new jobs ready.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: inserted rows, and at most the rows of job, which are new.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select lane, 0, turn, start_by, id, 0, 0, 0
from {{job}} force index (primary)
where {{among}};

-- name: take_keys
-- Gives each key to its job unless another job has it. It waits for transactions that
-- take or give back the same keys. It also locks a taken key, so that the answer of
-- key_holders stays true.
-- Inputs: {{rows}} of tenant, key, id; sorted by key, so that two callers wait
--   for each other in one direction only.
-- Output: none.
-- Locks: the keys, taken or not.
insert into {{jobkey}} (tenant, job_key, id) values {{rows}}
on duplicate key update id = id;

-- name: key_holders
-- Reads which jobs hold keys. It follows take_keys as a separate statement and is a
-- locking read: a snapshot may be older than the winner.
-- Inputs: {{rows}} of tenant, key.
-- Output: tenant, key, id of the holder.
-- Locks: the keys.
select tenant, job_key, id from {{jobkey}} force index (primary)
where (tenant, job_key) in ({{rows}})
for update;

-- name: pass_key
-- Passes a key that this transaction has locked to another job.
-- Inputs: {{id}} of the new holder, {{tenant_name}}, {{key_name}}: no parameters,
--   because some sessions convert texts that are.
-- Output: none.
-- Locks: the key.
update {{jobkey}} set id = {{id}} where tenant = {{tenant_name}} and job_key = {{key_name}};
