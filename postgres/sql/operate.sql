-- name: place
-- Where a job stands.
-- Inputs: $1 id.
-- Output: its state, at most one row.
-- Locks: none.
select 'scheduled' from {{later}} where id = $1::bigint
union all
select 'ready' from (select lane, turn, start_by, id from {{job}} where id = $1::bigint offset 0) j
cross join lateral (select from {{ready}} where lane = j.lane and solo in (0, 1) and turn = j.turn and start_by = j.start_by and id = j.id offset 0) r
union all
select 'parked' from (select gate, turn, start_by, id from {{job}} where id = $1::bigint offset 0) j
cross join lateral (select from {{parked}} where gate = j.gate and turn = j.turn and start_by = j.start_by and id = j.id offset 0) p
union all
select 'running' from {{running}} where id = $1::bigint
union all
select 'waiting' from {{waiting}} where id = $1::bigint
union all
select case outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end from {{done}} where id = $1::bigint;

-- name: leave_pending
-- A part of statements about one job that waits to be started: takes it out of its
-- place. One that moves from one place to another at that instant is in none of them:
-- the caller looks again.
-- Inputs: $1 id.
-- Output: taken, with the state that it was in.
-- Locks: the job.
from_later as (
    delete from {{later}} where id = $1::bigint returning id, lane, attempt, failures, crashes
),
standing as materialized (select lane, gate, turn, start_by from {{job}} where id = $1::bigint),
from_parked as (
    delete from {{parked}} p
    where p.gate = (select gate from standing) and p.turn = (select turn from standing) and p.start_by = (select start_by from standing) and p.id = $1::bigint
    returning p.id, p.lane, p.attempt, p.failures, p.crashes
),
from_ready as (
    delete from {{ready}} r
    where r.lane = (select lane from standing) and r.solo in (0, 1) and r.turn = (select turn from standing) and r.start_by = (select start_by from standing) and r.id = $1::bigint
    returning r.id, r.lane, r.attempt, r.failures, r.crashes
),
taken as materialized (
    select 'scheduled' as state, f.* from from_later f
    union all
    select 'parked', f.* from from_parked f
    union all
    select 'ready', f.* from from_ready f
);

-- name: cancel
-- Ends a job as cancelled that waits to be started, or for its answer.
-- Inputs: $1 id, $2 reason or null, $3 error, $4 whether it gives back even a
--   key that it would hold forever, $5 whether also one that waits for its answer.
-- Output: the state that it was in and its lane, if it was there.
-- Locks: the job, its key.
with {{leave_pending}},
from_waiting as (
    delete from {{waiting}} where $5::bool and id = $1::bigint
    returning id, fence, node, started_at, lane, attempt, failures, crashes, held
),
moved as materialized (
    select state, id, 0::bigint as fence, 0::bigint as node, 0::bigint as started_at, lane, attempt, failures, crashes, null::text collate "C" as held from taken
    union all
    select 'waiting', id, fence, node, started_at, lane, attempt, failures, crashes, held from from_waiting
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, fence, node, started_at, {{now}}, lane, attempt, failures, crashes, 3, $2::text, $3::text from moved
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where j.job_key is not null and ($4::bool or j.flags & 1 = 0)
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
),
vacated as ({{vacate}})
select state, lane from moved;

-- name: wish
-- Asks for a running job to be cancelled. The first reason stays.
-- Inputs: $1 id, $2 reason.
-- Output: its state and its lane, if it was there.
-- Locks: the job.
update {{running}} set wish = coalesce(wish, $2::text) where id = $1::bigint returning 'running', lane;

-- name: lock_done
-- Holds a finished job for Reopen.
-- Inputs: $1 id.
-- Output: outcome, tenant, key or null, flags, fence, policy or null.
-- Locks: the job.
select d.outcome, l.tenant, j.job_key, j.flags, d.fence, j.policy
from {{done}} d
join {{job}} j on j.id = any (array[d.id])
join {{lane}} l on l.id = any (array[j.lane])
where d.id = $1::bigint
for update of d;

-- name: retake_key
-- Takes a key for a job again. key_holders shows whether the job has it now.
-- Inputs: $1 tenant, $2 key, $3 id.
-- Locks: the key; waits for transactions that take or give it back.
insert into {{jobkey}} (tenant, job_key, id) values ($1::text, $2::text, $3::bigint) on conflict do nothing;

-- name: reopen
-- Makes a finished job ready, or parks it, with its failures and crashes
-- forgotten. One that was meant for a later time is meant for now from here on.
-- Inputs: $1 id, locked by lock_done.
-- Output: its lane.
-- Locks: the job.
with moved as materialized (
    delete from {{done}} where id = $1::bigint returning id, attempt
),
clock as materialized (select {{now}} as now),
opened as materialized (
    update {{job}} j
    set not_before = case when j.not_before > now then now else j.not_before end,
        start_by = case when j.not_before > now and j.start_by = j.not_before then now else j.start_by end
    from moved m, clock
    where j.id = any (array[m.id])
    returning j.lane, j.turn, j.start_by, j.id, m.attempt, j.gate
),
parked as (
    insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
    select gate, turn, start_by, id, lane, attempt, 0, 0 from opened where gate is not null
    returning gate
),
told as (
    insert into {{gate_news}} (gate) select gate from parked
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, 0, turn, start_by, id, attempt, 0, 0 from opened where gate is null
)
select lane from opened;

-- name: reschedule
-- Changes when a job is due that waits to be started. One whose time has come and that
-- has a gate and no place is then parked. start_by moves along if it was the due time.
-- Inputs: $1 id, $2 due time or 0 for now.
-- Output: the state that it was in and its lane, if it was there.
-- Locks: the job.
with {{leave_pending}},
moved as materialized (select * from taken),
clock as materialized (
    select now, case $2::bigint when 0 then now else $2::bigint end as due
    from (select {{now}} as now from (select count(*) from moved) after_locking) c
),
changed as (
    update {{job}} j
    set not_before = due, start_by = case when j.start_by = case j.not_before when 0 then j.created_at else j.not_before end then due else j.start_by end
    from moved m, clock
    where j.id = any (array[m.id])
    returning j.id, j.turn, j.start_by, j.gate
),
postponed as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, due, lane, attempt, failures, crashes from moved, clock where due > now
),
{{due}}
select state, lane from moved;

-- name: run_now
-- Makes scheduled jobs ready, or parks them. Those that were meant for a later
-- time are meant for now from here on, and start_by moves along if it was that
-- time.
-- Inputs: $1 ids.
-- Output: lanes of those that were there.
-- Locks: the jobs.
with moved as materialized (
    delete from {{later}} where id = any ($1::bigint[]) returning id, lane, attempt, failures, crashes
),
clock as materialized (select now, now as due from (select {{now}} as now from (select count(*) from moved) after_locking) c),
changed as (
    update {{job}} j
    set not_before = case when j.not_before > now then now else j.not_before end,
        start_by = case when j.not_before > now and j.start_by = j.not_before then now else j.start_by end
    from moved m, clock
    where j.id = any (array[m.id])
    returning j.id, j.turn, j.start_by, j.gate
),
{{due}}
select lane from moved;

-- name: set_turn
-- Changes the priority of a job that has not ended. Only in ready and parked its place
-- depends on it.
-- Inputs: $1 id, $2 turn.
-- Output: the state that it is in and its lane, if it was there.
-- Locks: the job and its job row.
with in_later as materialized (select id from {{later}} where id = $1::bigint for update),
in_running as materialized (select id from {{running}} where id = $1::bigint for update),
in_waiting as materialized (select id from {{waiting}} where id = $1::bigint for update),
standing as materialized (select lane, gate, turn, start_by from {{job}} where id = $1::bigint),
from_parked as (
    delete from {{parked}} p
    where p.gate = (select gate from standing) and p.turn = (select turn from standing) and p.start_by = (select start_by from standing) and p.id = $1::bigint
    returning p.gate, p.start_by, p.id, p.lane, p.attempt, p.failures, p.crashes
),
from_ready as (
    delete from {{ready}} r
    where r.lane = (select lane from standing) and r.solo in (0, 1) and r.turn = (select turn from standing) and r.start_by = (select start_by from standing) and r.id = $1::bigint
    returning r.lane, r.solo, r.start_by, r.id, r.attempt, r.failures, r.crashes
),
found as materialized (
    select 'scheduled' as state, id from in_later
    union all
    select 'running', id from in_running
    union all
    select 'waiting', id from in_waiting
    union all
    select 'parked', id from from_parked
    union all
    select 'ready', id from from_ready
),
changed as (
    update {{job}} j set turn = $2::smallint from found f where j.id = any (array[f.id]) returning f.state, j.lane
),
parked as (
    insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
    select gate, $2::smallint, start_by, id, lane, attempt, failures, crashes from from_parked
    returning gate
),
told as (
    insert into {{gate_news}} (gate) select gate from parked
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, solo, $2::smallint, start_by, id, attempt, failures, crashes from from_ready
)
select state, lane from changed;

-- name: names_of
-- Whose jobs are and what they do: what never changes of their lanes.
-- Inputs: $1 ids.
-- Output: id, tenant, kind.
-- Locks: none.
select j.id, l.tenant, l.kind from {{job}} j join {{lane}} l on l.id = any (array[j.lane]) where j.id = any ($1::bigint[]);

-- name: set_lane
-- Moves a job that waits to be started to another lane, in the same state and order. It
-- fails, so that the transaction is rolled back, if the lane is not the one that the
-- caller knows.
-- Inputs: $1 id, $2 lane, $3 its queue, $4 its tenant, $5 its kind.
-- Output: the state that it is in and its lane, if it was there.
-- Locks: the job and its job row.
with known as materialized (
    select case
        when (select true from {{lane}} where id = $2::int and queue = $3::text and tenant = $4::text and kind = $5::text and retired_at = 0) then $2::int
        else ('changed lanes ' || $2::int)::int
    end as lane
),
in_later as (
    update {{later}} set lane = (select lane from known) where id = $1::bigint returning id
),
standing as materialized (select lane, gate, turn, start_by from {{job}} where id = $1::bigint),
in_parked as (
    update {{parked}} p set lane = (select lane from known)
    where p.gate = (select gate from standing) and p.turn = (select turn from standing) and p.start_by = (select start_by from standing) and p.id = $1::bigint
    returning p.id
),
from_ready as (
    delete from {{ready}} r
    where r.lane = (select lane from standing) and r.solo in (0, 1) and r.turn = (select turn from standing) and r.start_by = (select start_by from standing) and r.id = $1::bigint
    returning r.solo, r.turn, r.start_by, r.id, r.attempt, r.failures, r.crashes
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select (select lane from known), solo, turn, start_by, id, attempt, failures, crashes from from_ready
),
found as materialized (
    select 'scheduled' as state, id from in_later
    union all
    select 'parked', id from in_parked
    union all
    select 'ready', id from from_ready
),
changed as (
    update {{job}} j set lane = (select lane from known) from found f where j.id = any (array[f.id]) returning f.state, j.lane
)
select state, lane from changed;

-- name: take_out
-- Takes a job that waits to be started, or has ended, out of its place, to be forgotten.
-- Inputs: $1 id.
-- Output: the state that it was in, if it was there, and the fence under which it ended.
-- Locks: the job.
with {{leave_pending}},
from_done as (
    delete from {{done}} where id = $1::bigint returning outcome, fence
)
select state, 0::bigint from taken
union all
select case outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end, fence from from_done;

-- name: needed_by
-- Tells who has still to see how a job ends.
-- Inputs: $1 id.
-- Output: batch, sweep; null if there is none.
-- Locks: none.
select ({{counting_batch}}), ({{running_sweep}}) from (select $1::bigint as id) d;

-- name: forget
-- Removes all that is known of jobs which have no place any more. Of runs of
-- schedules that were not told of it, it notes that they are gone, and how they ended.
-- Inputs: $1 ids, $2 how they ended, '' if that is not known.
-- Locks: what it removes.
with gone as materialized (
    delete from {{job}} where id = any ($1::bigint[]) returning id, lane, job_key, flags
),
freed as (
    delete from {{jobkey}} k
    using gone g, {{lane}} l
    where g.job_key is not null and l.id = any (array[g.lane]) and k.tenant = any (array[l.tenant]) and k.job_key = g.job_key and k.id = g.id
),
orphaned as materialized (
    update {{open_fire}} o set gone = true, state = $2::text
    from gone g
    cross join lateral (select schedule, job from {{fire}} where job = g.id offset 0) f
    where g.flags & 4 <> 0 and o.schedule = any (array[f.schedule]) and o.job = f.job
    returning o.job
),
unfired as (
    delete from {{fire}}
    where job = any (array(select id from gone where flags & 4 <> 0)) and job <> all (array(select job from orphaned))
),
unlogged as (
    delete from {{attempt}} where id = any ($1::bigint[])
)
delete from {{memo}} where id = any ($1::bigint[]);
