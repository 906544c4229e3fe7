-- Statements of what people do to jobs. They run in one transaction that has
-- the write lock, after locate has told where the job is.

-- name: wish
-- Asks a running job to stop. The first reason stays.
-- Inputs: reason, id.  Output: none.  Locks: the writer's.
update {{running}} set wish = coalesce(wish, ?) where id = ?;

-- name: answer
-- Keeps an answer until its job moves to waiting.
-- Inputs: answer, id.  Output: none.  Locks: the writer's.
update {{running}} set answer = ? where id = ?;

-- name: extend
-- Moves the deadline of a waiting job.
-- Inputs: deadline, id.  Output: none.  Locks: the writer's.
update {{waiting}} set deadline = ? where id = ?;

-- name: tell
-- Keeps what was reported of the run of a fence.
-- Inputs: id, told, fence.  Output: none.  Locks: the writer's.
insert into {{memo}} (id, told, told_fence) values (?, ?, ?)
on conflict (id) do update set told = excluded.told, told_fence = excluded.told_fence;

-- name: policy_of
-- Reads the policy of a job.
-- Inputs: id.  Output: policy or null.  Locks: none.
select policy from {{job}} where id = ?;

-- name: set_order
-- Changes what decides when a job has its turn. Its row in ready or parked is
-- moved in the same transaction.
-- Inputs: turn, start_by, not_before, id.  Output: none.  Locks: the writer's.
update {{job}} set turn = ?, start_by = ?, not_before = ? where id = ?;

-- name: set_lane
-- Changes the lane of a job. Its row in its place is moved in the same transaction.
-- Inputs: lane, id.  Output: none.  Locks: the writer's.
update {{job}} set lane = ? where id = ?;

-- name: set_lane_later
-- Changes the lane of a scheduled job where it waits.
-- Inputs: lane, id.  Output: none.  Locks: the writer's.
update {{later}} set lane = ? where id = ?;

-- name: pause
-- Pauses a queue, kind or tenant. Without a reason, an earlier one remains.
-- Inputs: scope, name, reason.  Output: none.  Locks: the writer's.
insert into {{pause}} (scope, name, reason) values (?, ?, ?)
on conflict (scope, name) do update set reason = excluded.reason where excluded.reason <> '';

-- name: delete_jobs
-- Removes what jobs are.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{job}} where id in (select value from json_each(?));

-- name: delete_attempts
-- Removes the history of jobs.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{attempt}} where id in (select value from json_each(?));

-- name: delete_memos
-- Removes what the handlers of jobs kept.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{memo}} where id in (select value from json_each(?));

-- name: delete_keys
-- Gives back the keys of jobs, even if held forever.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{jobkey}} where id in (select value from json_each(?));
