-- Statements that only read. Get, Find and Tally build theirs.

-- name: attempts
-- Lists the recorded runs of a job, oldest first.
-- Inputs: id.
-- Output: run, fence, node, started_at, finished_at, reason, error.
-- Locks: none.
select run, fence, node, started_at, finished_at, reason, error from {{attempt}} where id = ? order by run;

-- name: ahead
-- Counts the ready jobs of a lane before a key, without suspects. Several of these are
-- joined by union all.
-- Inputs: {{lane_id}}, {{turn}}, {{start_by}} and {{id}} of the key, {{limit}}.
-- Output: lane, their number.
-- Locks: none.
(select {{lane_id}}, count(*) from (
  select 1 from {{ready}} force index (primary)
  where lane = {{lane_id}} and solo = 0
    and (turn < {{turn}} or turn = {{turn}} and (start_by < {{start_by}} or start_by = {{start_by}} and id < {{id}}))
  limit {{limit}}) first);
