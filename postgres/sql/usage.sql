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
