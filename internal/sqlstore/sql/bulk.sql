-- Common statements of bulks.

-- name: add_bulk
-- Stores a bulk.
-- Inputs: id, matched, whether there may be more matches, body.
-- Output: none.
-- Locks: the inserted row.
insert into {{bulk}} (id, created_at, started_at, finished_at, stopping, stopped, below, matched, more, done, missed, body)
values (?::bigint, {{now}}, 0, 0, false, false, 0, ?::bigint, ?::boolean, 0, 0, ?::json);

-- name: advance_bulk
-- Records the progress of a bulk, and its end.
-- Inputs: id, below, jobs changed and jobs left unchanged in this step, whether the bulk
--   ends, whether it was asked to stop.
-- Output: none.
-- Locks: the bulk, locked before.
update {{bulk}}
set below = ?2::bigint, done = done + ?3::bigint, missed = missed + ?4::bigint, stopped = ?6::boolean,
    started_at = case when started_at = 0 then {{now}} else started_at end,
    finished_at = case when ?5::boolean then {{now}} else 0 end
where id = ?1::bigint;

-- name: bulk_misses
-- Lists the jobs that a bulk left unchanged, newest first.
-- Inputs: bulk, ID below which to start, limit.
-- Output: job, reason.
-- Locks: none.
select job, why from {{bulk_miss}} where bulk = ?::bigint and job < ?::bigint order by job desc limit ?::int;

-- name: stop_bulk
-- Asks a bulk to stop, unless it has ended.
-- Inputs: id.
-- Output: none; no row if it is unknown or has ended.
-- Locks: the bulk; waits for its step.
update {{bulk}} set stopping = true where id = ?::bigint and finished_at = 0;

-- name: latest_ids
-- Reads the last job ID, and whether one of the latest jobs was created now or later.
-- Inputs: number of IDs to look at.
-- Output: the last ID, or 0, and the number of such jobs.
-- Locks: none.
select coalesce(max(id), 0), count(case when created_at >= (select {{now}}) then 1 end)
from {{job}}
where id > (select max(id) from {{job}}) - ?::bigint;

-- name: old_bulks
-- Lists bulks that ended long ago.
-- Inputs: whether to list stopped bulks, age in microseconds, limit.
-- Output: id.
-- Locks: none.
select id from {{bulk}}
where stopped = ?::boolean and finished_at <> 0 and finished_at < (select {{now}}) - ?::bigint
limit ?::int;

-- name: lone_bulks
-- Lists bulks without an end whose jobs no longer exist.
-- Inputs: limit.
-- Output: id.
-- Locks: none.
select b.id from {{bulk}} b
where b.finished_at = 0 and not exists (select 1 from {{job}} j where j.id = b.id)
limit ?::int;

-- name: drop_bulk
-- Removes a bulk.
-- Inputs: id.
-- Output: none.
-- Locks: the deleted row.
delete from {{bulk}} where id = ?::bigint;
