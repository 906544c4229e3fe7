-- Whether transactions of callers have committed: see sqlstore.Commits.

-- name: stored_jobs
-- Finds out which jobs exist.
-- Inputs: $1 ids.
-- Output: ids of those that do.
-- Locks: none.
select id from {{job}} where id = any ($1::bigint[]);

-- name: leased_jobs
-- Finds out which jobs are running.
-- Inputs: $1 ids.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} where id = any ($1::bigint[]);
