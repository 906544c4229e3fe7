-- Statements of Settle and of all other moves. Those of Settle also run in the
-- caller's transaction, at any isolation level and with any session settings.
-- Rows are locked first and read by that, then decided upon, then moved.

-- name: lock_running
-- Locks running jobs and reads them.
-- Inputs: {{ids}}.
-- Output: id, fence, node, lane, attempt, failures, crashes, started_at, held, wish, answer.
-- Locks: rows of running, in order of id.
select id, fence, node, lane, attempt, failures, crashes, started_at, held, wish, answer
from {{running}} force index (primary)
where id in ({{ids}})
for update;

-- name: free_running
-- Locks running jobs and reads them, except those that another transaction has locked.
-- Inputs: {{ids}}.
-- Output: columns as lock_running.
-- Locks: rows of running, in order of id; skips what is locked.
select id, fence, node, lane, attempt, failures, crashes, started_at, held, wish, answer
from {{running}} force index (primary)
where id in ({{ids}})
for update skip locked;

-- name: fences_of
-- Reads under which fences jobs run, as far as that is committed.
-- Inputs: {{ids}}.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{running}} force index (primary) where id in ({{ids}});

-- name: succeed
-- Ends plain successes of one fence. With leave_unheld it is all of Settle for
-- most jobs.
-- Inputs: {{clock}}, {{fence_no}}, {{among}}.
-- Output: none; the number of rows shows whether all were running and free.
-- Locks: rows of running, in order of id, skips what is locked; inserted rows.
insert into {{done}} (id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at)
select id, lane, 1, fence, node, attempt, failures, crashes, started_at, {{clock}}
from {{running}} force index (primary)
where {{among}} and fence = {{fence_no}}
for update skip locked;

-- name: ended_under
-- Lists the jobs that have ended under a fence, this transaction's own included.
-- Inputs: {{fence_no}}, {{ids}}.
-- Output: id.
-- Locks: none.
select id from {{done}} force index (primary) where id in ({{ids}}) and fence = {{fence_no}};

-- name: leave_unheld
-- Takes jobs of one fence out of running that count against no limit.
-- Inputs: {{fence_no}}, {{among}}.
-- Output: none.
-- Locks: rows of running.
delete r from {{running}} r force index (primary) where {{among}} and fence = {{fence_no}} and held = 0;

-- name: leave_fenced
-- Takes jobs of one fence out of running.
-- Inputs: {{fence_no}}, {{among}}.
-- Output: none.
-- Locks: rows of running.
delete r from {{running}} r force index (primary) where {{among}} and fence = {{fence_no}};

-- name: leave_running
-- Takes jobs out of running.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of running.
delete r from {{running}} r force index (primary) where {{among}} and lane >= 0;

-- name: ended
-- Tells under which fence, and how, jobs ended that were not found running. Those that
-- were replaced, or whose last run is recorded as a crash or a lost lease, were ended by
-- another.
-- Inputs: {{ids}}.
-- Output: id, fence, outcome.
-- Locks: none.
select d.id, d.fence, d.outcome
from {{done}} d force index (primary)
where d.id in ({{ids}}) and coalesce(d.reason, '') <> 'replaced'
  and (select a.run from {{attempt}} a force index (primary)
       where a.id = d.id and a.run = d.attempt and a.fence = d.fence and a.reason in ('crash', 'lease_lost')) is null;

-- name: order_of
-- Reads what of a job decides how it goes on. It is read after the job's place
-- was locked: only who has that lock may change it.
-- Inputs: {{ids}}.
-- Output: id, turn, start_by, flags, gate (0 if it has none).
-- Locks: none. Who operates on a job locks its row first and then its place.
select id, turn, start_by, flags, coalesce(gate, 0)
from {{job}} force index (primary)
where id in ({{ids}});

-- name: to_later
-- Schedules jobs.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{later}} (id, lane, not_before, attempt, failures, crashes) values {{rows}};

-- name: to_ready
-- Makes jobs ready.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes) values {{rows}};

-- name: to_waiting
-- Lets jobs wait for their answer.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{waiting}} (id, fence, node, lane, attempt, failures, crashes, started_at, held, deadline, retry_after) values {{rows}};

-- name: to_done
-- Ends jobs.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{done}} (id, lane, outcome, reason, fence, node, attempt, failures, crashes, started_at, finished_at, output, error)
values {{rows}};

-- name: record
-- Records runs that failed.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{attempt}} (id, run, fence, node, started_at, finished_at, reason, error) values {{rows}};

-- name: remember
-- Keeps memo and progress; null leaves what there was.
-- Inputs: {{rows}} of id, memo, progress.
-- Output: none.
-- Locks: rows of memo.
insert into {{memo}} (id, memo, progress) values {{rows}}
on duplicate key update memo = coalesce(values(memo), memo), progress = coalesce(values(progress), progress);

-- name: mark_released
-- Notes that runs were released after their handlers had begun.
-- Inputs: {{rows}} of id, 1.
-- Output: none.
-- Locks: rows of memo.
insert into {{memo}} (id, released) values {{rows}}
on duplicate key update released = 1;

-- name: keys_of
-- Reads the keys and gates of jobs that have any. Neither these nor lanes ever
-- change.
-- Inputs: {{ids}}.
-- Output: id, lane, job_key and gate (empty, 0 if it has none), flags.
-- Locks: none.
select id, lane, coalesce(job_key, ''), coalesce(gate, 0), flags
from {{job}} force index (primary)
where id in ({{ids}}) and (job_key is not null or gate is not null);

-- name: free_keys
-- Gives back keys that jobs hold; those that others hold by now stay. The jobs
-- are not joined: a deletion would lock their rows as well.
-- Inputs: {{rows}} of tenant, key, id as JSON, texts in hexadecimal.
-- Output: none.
-- Locks: the keys.
delete k
from json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (
  tenant varchar(400) path '$[0]', job_key varchar(510) path '$[1]', id bigint path '$[2]')) v
straight_join {{jobkey}} k force index (primary) on k.tenant = unhex(v.tenant) and k.job_key = unhex(v.job_key) and k.id = v.id;

-- name: lock_free_keys
-- Locks keys, except those that another transaction has locked.
-- Inputs: {{rows}} of tenant, key.
-- Output: tenant, key, id of the holder. Without the id, servers read a small table whole.
-- Locks: the keys; skips what is locked.
select tenant, job_key, id from {{jobkey}} force index (primary) where (tenant, job_key) in ({{rows}}) for update skip locked;

-- name: taken_keys
-- Reads which keys are taken, as far as that is committed.
-- Inputs: {{rows}} of tenant, key.
-- Output: tenant, key, id of the holder.
-- Locks: none.
select tenant, job_key, id from {{jobkey}} force index (primary) where (tenant, job_key) in ({{rows}});

-- name: forget_crashes
-- Forgets the crashes of a running job that made progress.
-- Inputs: id.
-- Output: none.
-- Locks: the row of running.
update {{running}} set crashes = 0 where id = ?;
