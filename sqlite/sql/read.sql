-- Statements of the readers. Get, Find and Tally are built by internal/sqlstore.

-- name: attempts
-- Lists the recorded runs of a job, oldest first.
-- Inputs: id.  Output: run, fence, node, started_at, finished_at, reason, error.
-- Locks: none.
select run, fence, node, started_at, finished_at, reason, error from {{attempt}} where id = ? order by run;

-- name: nodes
-- Lists all nodes.
-- Inputs: now.  Output: the columns; dead is true once the lease has ended; instead of
--   the token, whether there is none.
-- Locks: none.
select id, name, info, idle, queued, joined_at, last_beat, lease_until, draining, dead = 1 or lease_until <= ?, token = '', left_at from {{node}} order by id;

-- name: data_version
-- Changes when another connection has committed to the database.
-- Inputs: none.  Output: a number.  Locks: none.
pragma data_version;
