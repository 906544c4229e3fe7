-- Statements about tenants that share starts by weight.

-- name: weights
-- Lists the tenants that have a weight.
-- Inputs: none.  Output: name, weight.  Locks: none.
select name, weight from {{tenant}} where weight > 0;

-- name: put_fair_starts
-- Stores how many jobs a node has started in a bucket, in all. It runs for each tenant.
-- Inputs: bucket, node, scope, tenant, how many.  Output: none.
-- Locks: the writer's.
insert into {{fair_start}} (bucket, node, scope, tenant, started) values (?, ?, ?, ?, ?)
on conflict (bucket, node, scope, tenant) do update set started = excluded.started;

-- name: other_fair_starts
-- Adds up what other nodes have started in the present bucket and in the one before.
-- Inputs: node.  Output: scope, tenant, bucket, how many, by how many nodes.
-- Locks: none.
select scope, tenant, bucket, sum(started), count(*)
from {{fair_start}}
where bucket >= {{now}} / {{starts_bucket}} - 1 and node <> ?1
group by bucket, scope, tenant;

-- name: recent_fair_starts
-- Adds up what was started in a scope since a bucket.
-- Inputs: bucket, scope.  Output: tenant, how many.  Locks: none.
select tenant, sum(started) from {{fair_start}} where bucket >= ? and scope = ? group by tenant;

-- name: forget_fair_starts
-- Removes what is too old to be asked for.
-- Inputs: first bucket to keep.  Output: none.  Locks: the writer's.
delete from {{fair_start}} where bucket < ?;
