-- Statements that only read. Get, Find and Tally build theirs.

-- name: attempts
-- Lists the recorded runs of a job, oldest first.
-- Inputs: id.
-- Output: run, fence, node, started_at, finished_at, reason, error.
-- Locks: none.
select run, fence, node, started_at, finished_at, reason, error from {{attempt}} where id = ? order by run;
