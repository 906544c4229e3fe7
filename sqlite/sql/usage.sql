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

-- name: recent_starts
-- Adds up what was started since a bucket.
-- Inputs: bucket.  Output: tenant, how many, how many of them too late.
-- Locks: none.
select tenant, sum(started), sum(missed) from {{starts}} where bucket >= ? group by tenant;

-- name: add_starts
-- Adds to what was started in a bucket.
-- Inputs: bucket, a JSON array of objects like fairlead.Starts.
-- Output: none.  Locks: the writer's.
insert into {{starts}} (bucket, tenant, started, missed)
select ?1, value ->> 'Tenant', value ->> 'Count', value ->> 'Missed' from json_each(?2) where true
on conflict (bucket, tenant) do update set started = started + excluded.started, missed = missed + excluded.missed;

-- name: forget_starts
-- Removes what is too old to be asked for.
-- Inputs: bucket.  Output: none.  Locks: the writer's.
delete from {{starts}} where bucket < ?;
