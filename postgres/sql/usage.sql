-- name: census
-- Counts the jobs of every lane that are not done. It reads whole tables.
-- Output: lane, state, how many, the first start_by of ready ones or 0.
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
-- Counts the jobs that nodes hold, by their kinds. It reads the whole table, which has a
-- row for each taken slot.
-- Output: node, kind, how many.
-- Locks: none.
select r.node, l.kind, count(*) from {{running}} r join {{lane}} l on l.id = r.lane group by r.node, l.kind;

-- name: overtakers
-- Counts the newest jobs that arrived after a job and start before it, by lane. It reads only
-- so many of the newest jobs.
-- Inputs: $1 id, $2 how many are read, $3 oldest creation, $4 latest due time, $5 $6 key (turn,
-- start_by).
-- Output: lane, their number.
-- Locks: none.
select lane, count(*)
from (select lane, turn, start_by, created_at, not_before from {{job}} where id > $1::bigint order by id desc limit $2::int) newest
where created_at >= $3::bigint and not_before <= $4::bigint and (turn, start_by) < ($5::smallint, $6::bigint)
group by lane;

-- name: recent_starts
-- Adds up what was started since a bucket.
-- Inputs: $1 bucket.
-- Output: tenant, how many, how many of them too late.
-- Locks: none.
select tenant, sum(started)::bigint, sum(missed)::bigint from {{starts}} where bucket >= $1::bigint group by tenant;

-- name: add_starts
-- Adds to what was started in the present bucket.
-- Inputs: in step $1 tenants, $2 how many, $3 how many too late.
-- Locks: the rows, in order.
insert into {{starts}} as s (bucket, tenant, started, missed)
select (select {{now}}) / {{starts_bucket}}, tenant, started, missed
from unnest($1::text[], $2::bigint[], $3::bigint[]) as u (tenant, started, missed)
order by tenant
on conflict (bucket, tenant) do update set started = s.started + excluded.started, missed = s.missed + excluded.missed;

-- name: forget_starts
-- Removes what is too old to be asked for.
-- Locks: the removed rows; passes over rows locked by others.
delete from {{starts}}
where ctid = any (array(
    select ctid from {{starts}} where bucket < ((select {{now}}) - {{starts_window}}) / {{starts_bucket}}
    for update skip locked));
