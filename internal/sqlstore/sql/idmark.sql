-- Common statements of marks of job IDs by time.

-- name: drop_id_marks
-- Removes marks of small IDs.
-- Inputs: ID below which to remove.
-- Output: none.
-- Locks: the deleted rows; waits for late_ids.
delete from {{id_mark}} where id < ?::bigint;
