-- Statements about tenants that share starts by weight.

-- name: put_fair_starts
-- Stores how many jobs a node has started in buckets, in all.
-- Inputs: rows of bucket, node, scope, tenant, how many.
-- Output: none.
-- Locks: the rows, which no other node writes.
insert into {{fair_start}} (bucket, node, scope, tenant, started) values {{rows}}(?, ?, ?, ?, ?){{end}}
on duplicate key update started = values(started);

-- name: forget_fair_starts
-- Removes what is too old to be asked for. It is a transaction of its own, and locks in
-- the order of the primary key: nodes that do so at once wait for each other in one
-- direction only.
-- Inputs: first bucket to keep.
-- Output: none.
-- Locks: the removed rows.
delete f from {{fair_start}} f force index (primary) where f.bucket < ?;
