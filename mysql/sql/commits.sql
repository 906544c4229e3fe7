-- Whether transactions of callers have committed: see sqlstore.Commits.

-- name: stored_jobs
-- Finds out which jobs exist.
-- Inputs: {{list}} of ids.
-- Output: ids of those that do.
-- Locks: none.
select id from {{job}} force index (primary) where id in ({{list}});

-- name: leased_jobs
-- Finds out which jobs are running.
-- Inputs: {{list}} of ids.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} force index (primary) where id in ({{list}});
