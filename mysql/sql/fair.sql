-- Statements about tenants that share starts by weight.

-- name: weights
-- Lists the tenants that have a weight.
-- Inputs: none.
-- Output: name, weight.
-- Locks: none.
select name, weight from {{tenant}} where weight > 0;

-- name: put_fair_starts
-- Stores how many jobs a node has started in buckets, in all.
-- Inputs: rows of bucket, node, scope, tenant, how many.
-- Output: none.
-- Locks: the rows, which no other node writes.
insert into {{fair_start}} (bucket, node, scope, tenant, started) values {{rows}}(?, ?, ?, ?, ?){{end}}
on duplicate key update started = values(started);

-- name: other_fair_starts
-- Adds up what other nodes have started in the present bucket and in the one before.
-- Inputs: node.
-- Output: scope, tenant, bucket, how many, by how many nodes.
-- Locks: none.
select scope, tenant, bucket, cast(sum(started) as signed), count(*)
from {{fair_start}} force index (primary)
where bucket >= {{now}} div {{starts_bucket}} - 1 and node <> ?
group by bucket, scope, tenant;

-- name: recent_fair_starts
-- Adds up what was started in a scope since a bucket.
-- Inputs: bucket, scope.
-- Output: tenant, how many.
-- Locks: none.
select tenant, cast(sum(started) as signed) from {{fair_start}} force index (primary) where bucket >= ? and scope = ? group by tenant;

-- name: forget_fair_starts
-- Removes what is too old to be asked for. It is a transaction of its own, and locks in
-- the order of the primary key: nodes that do so at once wait for each other in one
-- direction only.
-- Inputs: first bucket to keep.
-- Output: none.
-- Locks: the removed rows.
delete f from {{fair_start}} f force index (primary) where f.bucket < ?;
