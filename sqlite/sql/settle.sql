-- Statements of Settle and of every other move of a single job. They run in
-- one transaction that has the write lock: where a job was found is where it
-- still is when it is moved.

-- name: held_of
-- Finds which of many running jobs are leased under a fence.
-- Inputs: ids as a JSON array, fence.  Output: id.  Locks: none.
select id from {{running}}
where id in (select value from json_each(?)) and fence = ?;

-- name: succeed
-- Ends many running jobs as succeeded; those under another fence are left out.
-- Inputs: now, ids as a JSON array, fence.  Output: none.  Locks: the writer's.
insert into {{done}} (id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at)
select id, lane, 1, fence, node, attempt, failures, crashes, started_at, ?
from {{running}}
where id in (select value from json_each(?)) and fence = ?;

-- name: stop_many
-- Takes many jobs out of running: the second half of succeed.
-- Inputs: ids as a JSON array, fence.  Output: none.  Locks: the writer's.
delete from {{running}}
where id in (select value from json_each(?)) and fence = ?;

-- name: done_by
-- Finds which of many jobs a fence has ended. Those whose last run is recorded as
-- a crash or a lost lease were taken from it.
-- Inputs: ids as a JSON array, fence.  Output: id.  Locks: none.
select id from {{done}} d
where id in (select value from json_each(?)) and fence = ?
  and not exists (select 1 from {{attempt}} a where a.id = d.id and a.run = d.attempt and a.reason in ('crash', 'lease_lost'));

-- name: set_output
-- Adds the output to a job that has just succeeded.
-- Inputs: output, id.  Output: none.  Locks: the writer's.
update {{done}} set output = ? where id = ?;

-- name: free_keys
-- Gives back the keys of many jobs that have ended, unless held forever.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{jobkey}}
where id in (select j.id from json_each(?) v cross join {{job}} j on j.id = v.value where j.flags & 1 = 0);

-- name: locate
-- Finds a job, wherever it is.
-- Inputs: id.  Output: what it is, then where and how it stands.  Locks: none.
select j.lane, j.turn, j.start_by, j.not_before, j.created_at, coalesce(j.job_key, ''), j.flags, coalesce(j.gate, 0), a.id is not null,
       case when l.id is not null then 'scheduled' when r.id is not null then 'ready' when p.id is not null then 'parked'
            when u.id is not null then 'running' when w.id is not null then 'waiting'
            when d.id is not null then case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end
            else '' end,
       coalesce(u.fence, w.fence, d.fence, 0), coalesce(u.node, w.node, d.node, 0),
       coalesce(l.attempt, r.attempt, p.attempt, u.attempt, w.attempt, d.attempt, 0),
       coalesce(l.failures, r.failures, p.failures, u.failures, w.failures, d.failures, 0),
       coalesce(l.crashes, r.crashes, p.crashes, u.crashes, w.crashes, d.crashes, 0),
       coalesce(u.started_at, w.started_at, d.started_at, 0),
       coalesce(w.deadline, 0), coalesce(w.retry_after, -1), u.wish, u.answer,
       coalesce(d.reason, ''), coalesce(d.error, ''), d.output
from {{job}} j
left join {{later}} l on l.id = j.id
left join {{ready}} r on r.lane = j.lane and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
left join {{parked}} p on p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id
left join {{running}} u on u.id = j.id
left join {{waiting}} w on w.id = j.id
left join {{done}} d on d.id = j.id
left join {{admitted}} a on a.gate = j.gate and a.id = j.id
where j.id = ?;

-- name: leave_later
-- Takes a job out of later.
-- Inputs: id.  Output: none.  Locks: the writer's.
delete from {{later}} where id = ?;

-- name: leave_ready
-- Takes a job out of ready.
-- Inputs: lane, turn, start_by, id.  Output: none.  Locks: the writer's.
delete from {{ready}} where lane = ? and solo in (0, 1) and turn = ? and start_by = ? and id = ?;

-- name: leave_parked
-- Takes a job out of parked.
-- Inputs: gate, turn, start_by, id.  Output: none.  Locks: the writer's.
delete from {{parked}} where gate = ? and turn = ? and start_by = ? and id = ?;

-- name: leave_running
-- Takes a job out of running.
-- Inputs: id.  Output: none.  Locks: the writer's.
delete from {{running}} where id = ?;

-- name: leave_waiting
-- Takes a job out of waiting.
-- Inputs: id.  Output: none.  Locks: the writer's.
delete from {{waiting}} where id = ?;

-- name: leave_done
-- Takes a job out of done.
-- Inputs: id.  Output: none.  Locks: the writer's.
delete from {{done}} where id = ?;

-- name: to_later
-- Puts a job into later.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{later}} (id, lane, not_before, attempt, failures, crashes) values (?, ?, ?, ?, ?, ?);

-- name: to_ready
-- Puts a job into ready.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes) values (?, ?, ?, ?, ?, ?, ?, ?);

-- name: to_parked
-- Puts a job into parked.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes) values (?, ?, ?, ?, ?, ?, ?, ?);

-- name: to_waiting
-- Puts a job into waiting.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{waiting}} (id, fence, node, lane, attempt, failures, crashes, started_at, deadline, retry_after)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: to_done
-- Puts a job into done.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{done}} (id, lane, outcome, reason, fence, node, attempt, failures, crashes, started_at, finished_at, output, error)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: record
-- Records a run in the job's history.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error)
values (?, ?, ?, ?, ?, ?, ?, ?);

-- name: recorded
-- Finds how a run ended that is in the job's history.
-- Inputs: id, fence.  Output: reason, error.  Locks: none.
select reason, error from {{attempt}} where id = ? and fence = ?;

-- name: keep
-- Keeps memo and progress; what is null stays as it was.
-- Inputs: id, memo, progress.  Output: none.  Locks: the writer's.
insert into {{memo}} (id, memo, progress) values (?, ?, ?)
on conflict (id) do update set memo = coalesce(excluded.memo, memo), progress = coalesce(excluded.progress, progress);

-- name: mark_released
-- Notes that a run was released after its handler had begun.
-- Inputs: id.  Output: none.  Locks: the writer's.
insert into {{memo}} (id, released) values (?, 1) on conflict (id) do update set released = 1;

-- name: save
-- Forgets the crashes of a job that got on.
-- Inputs: id, fence.  Output: none; no row is hit if the lease was lost.
-- Locks: the writer's.
update {{running}} set crashes = 0 where id = ? and fence = ?;
