-- Statements of Enqueue. They run in one transaction that has the write lock, so what
-- one of them read still holds for the next.

-- name: insert_jobs
-- Stores jobs, without their places. The tuple is repeated for as many jobs as are
-- given.
-- Inputs: the columns, per job.  Output: none.  Locks: the writer's.
insert into {{job}} (id, lane, turn, start_by, not_before, created_at, job_key, flags, policy, trace, args)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: set_gates
-- Sets the gates of new jobs. It is a separate statement because most jobs have none.
-- Inputs: pairs of id and gate as a JSON array.  Output: none.
-- Locks: the writer's.
update {{job}} as j set gate = v.value ->> 1
from json_each(?) v
where j.id = v.value ->> 0;

-- name: place_due
-- Makes the due ones of the new jobs ready, if none of them has a gate: place_ungated
-- would take a tenth longer for a whole batch.
-- Inputs: first id, last id, now.  Output: none.  Locks: the writer's.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select lane, 0, turn, start_by, id, 0, 0, 0
from {{job}}
where id between ? and ? and not_before <= ?;

-- name: place_ungated
-- Makes the due ones of the new jobs ready that have no gate.
-- Inputs: first id, last id, now.  Output: none.  Locks: the writer's.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select lane, 0, turn, start_by, id, 0, 0, 0
from {{job}}
where id between ? and ? and not_before <= ? and gate is null;

-- name: place_gated
-- Parks the due ones of the new jobs that have a gate.
-- Inputs: first id, last id, now.  Output: none.  Locks: the writer's.
insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
select gate, turn, start_by, id, lane, 0, 0, 0
from {{job}}
where id between ? and ? and not_before <= ? and gate is not null;

-- name: place_undue
-- Schedules the new jobs that are not due.
-- Inputs: first id, last id, now.  Output: none.  Locks: the writer's.
insert into {{later}} (id, lane, not_before, attempt, failures, crashes)
select id, lane, not_before, 0, 0, 0
from {{job}}
where id between ? and ? and not_before > ?;

-- name: insert_lane
-- Creates a lane unless it exists.
-- Inputs: queue, tenant, kind.  Output: none.  Locks: the writer's.
insert into {{lane}} (queue, tenant, kind) values (?, ?, ?)
on conflict do nothing;

-- name: lane_is
-- Reports whether a lane is in use under its names.
-- Inputs: id, queue, tenant, kind.  Output: a row if so.  Locks: none.
select 1 from {{lane}} where id = ? and queue = ? and tenant = ? and kind = ? and retired_at = 0;

-- name: reopen_lane
-- Takes a retired lane into use again.
-- Inputs: now, queue, tenant, kind.  Output: none.  Locks: the writer's.
update {{lane}} set retired_at = 0, seen_at = ? where queue = ? and tenant = ? and kind = ? and retired_at <> 0;

-- name: lane_id
-- Finds a lane by its names.
-- Inputs: queue, tenant, kind.  Output: id.  Locks: none.
select id from {{lane}} where queue = ? and tenant = ? and kind = ?;

-- name: new_lanes
-- Lists the lanes created after a known one.
-- Inputs: largest known id.  Output: id, queue, tenant, kind, in order.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where id > ? order by id;

-- name: key_holder
-- Finds the job that holds a key.
-- Inputs: tenant, key.  Output: job id.  Locks: none.
select id from {{jobkey}} where tenant = ? and job_key = ?;

-- name: take_key
-- Gives a free key to a job.
-- Inputs: tenant, key, job id.  Output: none.  Locks: the writer's.
insert into {{jobkey}} (tenant, job_key, id) values (?, ?, ?);

-- name: counters
-- Reads all counters.
-- Inputs: none.  Output: name, value.  Locks: none.
select name, value from {{counter}};

-- name: set_counter
-- Writes a counter back. Its value was read in the same transaction.
-- Inputs: value, name.  Output: none.  Locks: the writer's.
update {{counter}} set value = ? where name = ?;

-- name: lock
-- Takes the write lock of a caller's transaction before anything is read in it: a
-- transaction that has read first cannot write once another has written.
-- Inputs: none.  Output: none.  Locks: the writer's.
update {{counter}} set value = value where name = 'job';
