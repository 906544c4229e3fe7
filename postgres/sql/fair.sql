-- name: put_fair_starts
-- Stores how many jobs a node has started in buckets, in all.
-- Inputs: in step $1 buckets, $2 node, $3 scopes, $4 tenants, $5 how many.
-- Locks: the rows, which no other node writes.
insert into {{fair_start}} (bucket, node, scope, tenant, started)
select bucket, node, scope, tenant, started
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[]) as u (bucket, node, scope, tenant, started)
on conflict (bucket, node, scope, tenant) do update set started = excluded.started;

-- name: forget_fair_starts
-- Removes what is too old to be asked for.
-- Inputs: $1 first bucket to keep.
-- Locks: the removed rows; passes over rows locked by others.
delete from {{fair_start}}
where ctid = any (array(
    select ctid from {{fair_start}} where bucket < $1::bigint
    for update skip locked));
