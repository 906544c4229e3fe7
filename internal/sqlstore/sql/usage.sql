-- Common statements of usage.

-- name: census
-- Counts the jobs of every lane that are not done. It reads whole tables.
-- Inputs: none.
-- Output: lane, state, number of jobs, the first start_by of ready jobs or 0.
-- Locks: none.
select lane, 'scheduled', count(*), 0::bigint from {{later}} group by lane
union all
select lane, 'parked', count(*), 0 from {{parked}} group by lane
union all
select lane, 'ready', count(*), min(start_by) from {{ready}} group by lane
union all
select lane, 'running', count(*), 0 from {{running}} group by lane
union all
select lane, 'waiting', count(*), 0 from {{waiting}} group by lane;

-- name: held_kinds
-- Counts the jobs of each node by kind. It reads a whole table, with a row for each running job.
-- Inputs: none.
-- Output: node, kind, number of jobs.
-- Locks: none.
select r.node, l.kind, count(*) from {{running}} r join {{lane}} l on l.id = r.lane group by r.node, l.kind;

-- name: overtakers
-- Counts by lane the jobs that were created after a job and start before it. It reads only
-- the newest jobs.
-- Inputs: ID, number of jobs to read, earliest creation, latest due time, turn, start_by.
-- Output: lane, number of jobs.
-- Locks: none.
select lane, count(*)
from (select lane, turn, start_by, created_at, not_before from {{job}} where id > ?::bigint order by id desc limit ?::int) newest
where created_at >= ?::bigint and not_before <= ?::bigint and (turn, start_by) < (?::smallint, ?::bigint)
group by lane;

-- name: recent_starts
-- Adds up all starts since a bucket.
-- Inputs: bucket.
-- Output: tenant, starts, late starts.
-- Locks: none.
select tenant, sum(started)::bigint, sum(missed)::bigint from {{starts}} where bucket >= ?::bigint group by tenant;
