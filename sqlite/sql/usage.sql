-- Statements about what tenants have and do.

-- name: census
-- Counts the jobs of every lane that are not done. It reads whole tables.
-- Inputs: none.
-- Output: lane, state, how many, the first start_by of ready ones or 0.
-- Locks: none.
select lane, 'scheduled', count(*), 0 from {{later}} group by lane
union all
select lane, 'parked', count(*), 0 from {{parked}} group by lane
union all
select lane, 'ready', count(*), min(start_by) from {{ready}} group by lane
union all
select lane, 'running', count(*), 0 from {{running}} group by lane
union all
select lane, 'waiting', count(*), 0 from {{waiting}} group by lane;

-- name: held_kinds
-- Counts the jobs that nodes hold, by their kinds. It reads the whole table, which has a
-- row for each taken slot.
-- Inputs: none.
-- Output: node, kind, how many.
-- Locks: none.
select r.node, l.kind, count(*) from {{running}} r join {{lane}} l on l.id = r.lane group by r.node, l.kind;

-- name: overtakers
-- Counts the newest jobs that arrived after a job and start before it, by lane. It reads only
-- so many of the newest jobs.
-- Inputs: id, how many are read, oldest creation, latest due time, key (turn, start_by).
-- Output: lane, their number.  Locks: none.
select lane, count(*)
from (select lane, turn, start_by, created_at, not_before from {{job}} where id > ? order by id desc limit ?)
where created_at >= ? and not_before <= ? and (turn, start_by) < (?, ?)
group by lane;

-- name: recent_starts
-- Adds up what was started since a bucket.
-- Inputs: bucket.  Output: tenant, how many, how many of them too late.
-- Locks: none.
select tenant, sum(started), sum(missed) from {{starts}} where bucket >= ? group by tenant;

-- name: add_starts
-- Adds to what a tenant has started in the present bucket. It runs for each.
-- Inputs: tenant, how many, how many of them too late.  Output: none.
-- Locks: the writer's.
insert into {{starts}} (bucket, tenant, started, missed) values ({{now}} / {{starts_bucket}}, ?1, ?2, ?3)
on conflict (bucket, tenant) do update set started = started + excluded.started, missed = missed + excluded.missed;

-- name: forget_starts
-- Removes what is too old to be asked for.
-- Inputs: none.  Output: none.  Locks: the writer's.
delete from {{starts}} where bucket < ({{now}} - {{starts_window}}) / {{starts_bucket}};

-- name: now
-- Reads the clock, which is that of the transaction.
-- Inputs: none.  Output: microseconds.  Locks: none.
select {{now}};
