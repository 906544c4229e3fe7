-- name: weights
-- Lists the tenants that have a weight.
-- Output: name, weight.
-- Locks: none.
select name, weight from {{tenant}} where weight > 0;

-- name: put_fair_starts
-- Stores how many jobs a node has started in buckets, in all.
-- Inputs: in step $1 buckets, $2 node, $3 scopes, $4 tenants, $5 how many.
-- Locks: the rows, which no other node writes.
insert into {{fair_start}} (bucket, node, scope, tenant, started)
select bucket, node, scope, tenant, started
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[]) as u (bucket, node, scope, tenant, started)
on conflict (bucket, node, scope, tenant) do update set started = excluded.started;

-- name: other_fair_starts
-- Adds up what other nodes have started in the present bucket and in the one before.
-- Inputs: $1 node.
-- Output: scope, tenant, bucket, how many, by how many nodes.
-- Locks: none.
select scope, tenant, bucket, sum(started)::bigint, count(*)::int
from {{fair_start}}
where bucket >= (select {{now}}) / {{starts_bucket}} - 1 and node <> $1::bigint
group by bucket, scope, tenant;

-- name: recent_fair_starts
-- Adds up what was started in a scope since a bucket.
-- Inputs: $1 bucket, $2 scope.
-- Output: tenant, how many.
-- Locks: none.
select tenant, sum(started)::bigint from {{fair_start}} where bucket >= $1::bigint and scope = $2::text group by tenant;

-- name: forget_fair_starts
-- Removes what is too old to be asked for.
-- Inputs: $1 first bucket to keep.
-- Locks: the removed rows; passes over rows locked by others.
delete from {{fair_start}}
where ctid = any (array(
    select ctid from {{fair_start}} where bucket < $1::bigint
    for update skip locked));
