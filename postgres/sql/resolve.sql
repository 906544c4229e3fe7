-- name: lock_waiting
-- Holds a waiting job for its answer.
-- Inputs: $1 id.
-- Output: fence, deadline, retry_after.
-- Locks: the job.
select fence, deadline, retry_after from {{waiting}} where id = $1::bigint for update;

-- name: lock_running
-- Holds a running job for an answer that comes early.
-- Inputs: $1 id.
-- Output: fence, answer or null.
-- Locks: the job.
select fence, answer from {{running}} where id = $1::bigint for update;

-- name: keep_answer
-- Keeps an early answer for the job's move to waiting.
-- Inputs: $1 id, locked by lock_running, $2 answer.
-- Locks: the job.
update {{running}} set answer = $2::json where id = $1::bigint;

-- name: past_answer
-- How a finished job ended, to be compared with an answer.
-- Inputs: $1 id.
-- Output: fence, outcome, reason, error, output.
-- Locks: none.
select fence, outcome, coalesce(reason, ''), coalesce(error, ''), output from {{done}} where id = $1::bigint;

-- name: recorded
-- Reads how the run of a fence was recorded.
-- Inputs: $1 id, $2 fence.
-- Output: reason, error.
-- Locks: none.
select reason, error from {{attempt}} where id = $1::bigint and fence = $2::bigint;

-- name: keep_told
-- Keeps what an answer says beside how the job goes on.
-- Inputs: $1 id, locked by lock_waiting, $2 memo, $3 progress; null: as it was.
-- Locks: its row.
insert into {{memo}} as m (id, memo, progress) values ($1::bigint, $2::json, $3::json)
on conflict (id) do update set memo = coalesce(excluded.memo, m.memo), progress = coalesce(excluded.progress, m.progress);

-- name: answer_finish
-- Ends a waiting job as its answer says.
-- Inputs: $1 id, locked by lock_waiting, $2 outcome, $3 reason, $4 error,
--   $5 output.
-- Output: whether it gave back slots.
-- Locks: the job, its key.
with moved as materialized (
    delete from {{waiting}} where id = $1::bigint returning id, fence, node, started_at, lane, attempt, failures, crashes, held
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error, output)
    select id, fence, node, started_at, {{now}}, lane, attempt, least(failures + ($2::int = 2)::int, 32767), crashes, $2::int, $3::text, $4::text, $5::json from moved
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, {{now}}, coalesce($3::text, ''), coalesce($4::text, '') from moved where $2::int = 2
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where j.job_key is not null and j.flags & 1 = 0
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
vacated as ({{vacate}})
select held is not null from moved;

-- name: answer_again
-- Takes a waiting job back for another run, as its answer says. The job row is read
-- as it is: its turn and start_by change only under the lock of the job's place, which
-- an earlier statement took.
-- Inputs: $1 id, locked by lock_waiting, $2 due time or 0, $3 microseconds
--   until due, $4 reason, $5 error.
-- Output: its lane, whether it gave back slots.
-- Locks: the job.
with moved as materialized (
    delete from {{waiting}} where id = $1::bigint returning id, fence, node, started_at, lane, attempt, least(failures + 1, 32767) as failures, crashes, held
),
clock as materialized (
    select now, case $2::bigint when 0 then now + $3::bigint else $2::bigint end as due
    from (select {{now}} as now from (select count(*) from moved) after_locking) c
),
postponed as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, due, lane, attempt, failures, crashes from moved, clock where due > now
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select m.lane, (m.crashes >= {{solo_after}})::int, j.turn, j.start_by, m.id, m.attempt, m.failures, m.crashes
    from clock, moved m join {{job}} j on j.id = any (array[m.id])
    where due <= now
),
logged as (
    insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
    select id, attempt, fence, node, started_at, now, coalesce($4::text, ''), coalesce($5::text, '') from moved, clock
),
vacated as ({{vacate}})
select lane, held is not null from moved;

-- name: extend
-- Moves the deadline of a waiting job.
-- Inputs: $1 id, locked by lock_waiting, $2 deadline.
-- Locks: the job.
update {{waiting}} set deadline = $2::bigint where id = $1::bigint;

-- name: tell
-- Keeps what was reported of the run of a fence.
-- Inputs: $1 id, its job locked, $2 fence, $3 what was reported.
-- Locks: its memo.
insert into {{memo}} (id, told, told_fence) values ($1::bigint, $3::json, $2::bigint)
on conflict (id) do update set told = excluded.told, told_fence = excluded.told_fence;
