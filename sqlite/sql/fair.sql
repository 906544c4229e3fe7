-- Statements about tenants that share starts by weight.

-- name: put_fair_starts
-- Stores how many jobs a node has started in a bucket, in all. It runs for each tenant.
-- Inputs: bucket, node, scope, tenant, how many.  Output: none.
-- Locks: the writer's.
insert into {{fair_start}} (bucket, node, scope, tenant, started) values (?, ?, ?, ?, ?)
on conflict (bucket, node, scope, tenant) do update set started = excluded.started;

-- name: forget_fair_starts
-- Removes what is too old to be asked for.
-- Inputs: first bucket to keep.  Output: none.  Locks: the writer's.
delete from {{fair_start}} where bucket < ?;
