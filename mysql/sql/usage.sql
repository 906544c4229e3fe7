-- Statements of Usage and Report.

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
-- Output: lane, their number.
-- Locks: none.
select lane, count(*)
from (select lane, turn, start_by, created_at, not_before from {{job}} where id > ? order by id desc limit ?) newest
where created_at >= ? and not_before <= ? and (turn, start_by) < (?, ?)
group by lane;

-- name: recent_starts
-- Adds up what was started since a bucket.
-- Inputs: bucket.
-- Output: tenant, how many, how many of them too late.
-- Locks: none.
select tenant, cast(sum(started) as signed), cast(sum(missed) as signed) from {{starts}} where bucket >= ? group by tenant;

-- name: add_starts
-- Adds to what was started.
-- Inputs: rows of tenant, how many, how many of them too late; in order.
-- Output: none.
-- Locks: the rows.
insert into {{starts}} (bucket, tenant, started, missed) values {{rows}}({{now}} div {{starts_bucket}}, ?, ?, ?){{end}}
on duplicate key update started = started + values(started), missed = missed + values(missed);

-- name: old_starts
-- Finds what is too old to be asked for.
-- Inputs: bucket, at most so many.
-- Output: bucket, tenant.
-- Locks: those rows; passes over rows locked by others.
select bucket, tenant from {{starts}} where bucket < ? order by bucket, tenant limit ? for update skip locked;

-- name: forget_starts
-- Nothing: a delete cannot pass over rows that others have locked, and would lock more than
-- one bucket together with add_starts. See drop_starts.

-- name: drop_starts
-- Removes what was found.
-- Inputs: {{rows}} of bucket and tenant.
-- Output: none.
-- Locks: the rows.
delete from {{starts}} where (bucket, tenant) in ({{rows}});
