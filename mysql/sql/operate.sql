-- Statements of what people do to jobs. First the job itself is locked: no
-- claim takes it from then on, so that it soon comes to rest where it can be
-- locked too. Claims lock in the other order, but never wait.

-- name: lock_job
-- Locks a job and reads it as far as moves need it.
-- Inputs: id.
-- Output: lane, turn, start_by, not_before, created_at, job_key, flags, gate (0
--   if it has none).
-- Locks: the row of job.
select lane, turn, start_by, not_before, created_at, coalesce(job_key, ''), flags, coalesce(gate, 0)
from {{job}}
where id = ?
for update;

-- name: lock_all_jobs
-- The same for many jobs.
-- Inputs: {{ids}}.
-- Output: id, and the columns as lock_job.
-- Locks: rows of job, in order of id.
select id, lane, turn, start_by, not_before, created_at, coalesce(job_key, ''), flags, coalesce(gate, 0)
from {{job}} force index (primary)
where id in ({{ids}})
order by id
for update;

-- name: policy_of
-- Reads the policy of a job that is locked. It never changes.
-- Inputs: id.
-- Output: policy or null.
-- Locks: none.
select policy from {{job}} where id = ?;

-- name: place_of
-- Tells where a job is, as a hint where to lock it: locking in all places in
-- turn would, at most isolation levels, lock the gaps where it is not.
-- Inputs: id.
-- Output: name of the place's table, or suspect for ready with solo; empty if
--   there is none.
-- Locks: none.
select case
         when exists (select 1 from {{later}} p where p.id = j.id) then 'later'
         when exists (select 1 from {{ready}} p
                      where p.lane = j.lane and p.solo = 0 and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id) then 'ready'
         when exists (select 1 from {{ready}} p
                      where p.lane = j.lane and p.solo = 1 and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id) then 'suspect'
         when exists (select 1 from {{parked}} p
                      where p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id) then 'parked'
         when exists (select 1 from {{running}} p where p.id = j.id) then 'running'
         when exists (select 1 from {{waiting}} p where p.id = j.id) then 'waiting'
         when exists (select 1 from {{done}} p where p.id = j.id) then 'done'
         else ''
       end
from {{job}} j
where j.id = ?;

-- name: places_of_jobs
-- The same for many jobs, where most of them are.
-- Inputs: {{ids}}.
-- Output: id, name of the place's table; empty if it is in another place.
-- Locks: none.
select v.id,
       case
         when l.id is not null then 'later'
         when r.id is not null then 'running'
         else ''
       end
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
left join {{later}} l force index (primary) on l.id = v.id
left join {{running}} r force index (primary) on r.id = v.id;

-- name: lock_later
-- Locks a scheduled job.
-- Inputs: id.
-- Output: not_before, attempt, failures, crashes.
-- Locks: the row of later.
select not_before, attempt, failures, crashes from {{later}} where id = ? for update;

-- name: lock_all_later
-- Locks scheduled jobs.
-- Inputs: {{ids}}.
-- Output: id, not_before, attempt, failures, crashes.
-- Locks: rows of later, in order of id.
select id, not_before, attempt, failures, crashes from {{later}} force index (primary) where id in ({{ids}}) order by id for update;

-- name: lock_ready
-- Locks a ready job.
-- Inputs: lane, solo, turn, start_by, id.
-- Output: attempt, failures, crashes.
-- Locks: the row of ready.
select attempt, failures, crashes
from {{ready}} force index (primary)
where lane = ? and solo = ? and turn = ? and start_by = ? and id = ?
for update;

-- name: lock_waiting
-- Locks a waiting job.
-- Inputs: id.
-- Output: fence, node, attempt, failures, crashes, started_at, held, deadline.
-- Locks: the row of waiting.
select fence, node, attempt, failures, crashes, started_at, held, deadline, retry_after from {{waiting}} where id = ? for update;

-- name: lock_done
-- Locks a finished job.
-- Inputs: id.
-- Output: outcome, reason, fence, node, attempt, failures, crashes, started_at, output, error.
-- Locks: the row of done.
select outcome, coalesce(reason, ''), fence, node, attempt, failures, crashes, started_at, output, coalesce(error, '')
from {{done}}
where id = ?
for update;

-- name: leave_ready_one
-- Takes one job out of ready.
-- Inputs: lane, solo, turn, start_by, id.
-- Output: none.
-- Locks: the row of ready.
delete r from {{ready}} r force index (primary)
where lane = ? and solo = ? and turn = ? and start_by = ? and id = ? and attempt >= 0;

-- name: leave_waiting
-- Takes jobs out of waiting.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of waiting.
delete w from {{waiting}} w force index (primary) where {{among}} and lane >= 0;

-- name: leave_done
-- Takes jobs out of done.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of done.
delete d from {{done}} d force index (primary) where {{among}} and lane >= 0;

-- name: set_order
-- Changes what decides when a job has its turn. Its row of ready or parked
-- is moved in the same transaction.
-- Inputs: turn, start_by, not_before, id.
-- Output: none.
-- Locks: the row of job.
update {{job}} set turn = ?, start_by = ?, not_before = ? where id = ?;

-- name: set_lane
-- Changes the lane of a job. Its row of ready or parked is moved in the same transaction.
-- Inputs: lane, id.
-- Output: none.
-- Locks: the row of job.
update {{job}} set lane = ? where id = ?;

-- name: set_lane_later
-- Changes the lane of a scheduled job, which is locked, where it waits.
-- Inputs: lane, id.
-- Output: none.
-- Locks: the row of later.
update {{later}} set lane = ? where id = ?;

-- name: set_due
-- Makes jobs due, which are scheduled and locked. start_by moves along if it was
-- the due time.
-- Inputs: {{clock}}, {{among}}.
-- Output: none.
-- Locks: rows of job.
update {{job}} force index (primary)
set start_by = case when start_by = not_before then {{clock}} else start_by end, not_before = {{clock}}
where {{among}} and lane >= 0;

-- name: wish
-- Asks a running job to stop. The first reason stays.
-- Inputs: reason, id.
-- Output: none.
-- Locks: the row of running.
update {{running}} set wish = coalesce(wish, ?) where id = ?;

-- name: count_wish
-- Tells the beats of all nodes that there is a new wish.
-- Inputs: by how much the counter grows.
-- Output: none.
-- Locks: the counter of wishes.
update {{counter}} set value = value + ? where name = 'wish';

-- name: answer
-- Keeps an answer until its job moves to waiting.
-- Inputs: answer, id.
-- Output: none.
-- Locks: the row of running.
update {{running}} set answer = ? where id = ?;

-- name: extend
-- Moves the deadline of a waiting job that is locked.
-- Inputs: deadline, id.
-- Output: none.
-- Locks: the row of waiting.
update {{waiting}} set deadline = ? where id = ?;

-- name: tell
-- Keeps what was reported of the run of a fence.
-- Inputs: id, told, fence.
-- Output: none.
-- Locks: the row of memo.
insert into {{memo}} (id, told, told_fence) values (?, ?, ?)
on duplicate key update told = values(told), told_fence = values(told_fence);

-- name: recorded
-- Reads how the run of a fence was recorded.
-- Inputs: id, fence.
-- Output: reason, error.
-- Locks: none.
select reason, error from {{attempt}} where id = ? and fence = ?;

-- name: sweep_of
-- Tells which sweep runs and goes over a shard by a job.
-- Inputs: id.
-- Output: sweep, null if there is none.
-- Locks: none.
select ({{running_sweep}}) from (select ? as id) d;
