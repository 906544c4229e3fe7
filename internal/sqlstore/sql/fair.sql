-- Common statements of fair shares.

-- name: weights
-- Lists the tenants that have a weight.
-- Inputs: none.
-- Output: name, weight.
-- Locks: none.
select name, weight from {{tenant}} where weight > 0;

-- name: other_fair_starts
-- Adds up the starts of other nodes in the current and the previous bucket.
-- Inputs: node.
-- Output: scope, tenant, bucket, starts, nodes.
-- Locks: none.
select scope, tenant, bucket, sum(started)::bigint, count(*)::int
from {{fair_start}} /*! force index (primary) */
where bucket >= (select {{now}}) / {{starts_bucket}} - 1 and node <> ?::bigint
group by bucket, scope, tenant;

-- name: recent_fair_starts
-- Adds up the starts in a scope since a bucket.
-- Inputs: bucket, scope.
-- Output: tenant, starts.
-- Locks: none.
select tenant, sum(started)::bigint from {{fair_start}} /*! force index (primary) */ where bucket >= ?::bigint and scope = ?::text group by tenant;
