-- name: attempts
-- The recorded runs of a job.
-- Inputs: $1 id.
-- Output: run, fence, node, started_at, finished_at, reason, error; oldest first.
-- Locks: none.
select run, fence, node, started_at, finished_at, reason, error from {{attempt}} where id = $1::bigint order by run;

-- name: nodes
-- All nodes.
-- Output: id, name, info, idle, queued, joined_at, last_beat, lease_until, dead.
-- Locks: none.
select id, name, info, idle, queued, joined_at, last_beat, lease_until, dead or lease_until <= (select {{now}}) from {{node}} order by id;

-- name: pauses
-- What is paused.
-- Output: scope, name.
-- Locks: none.
select scope, name from {{pause}} order by scope, name;
