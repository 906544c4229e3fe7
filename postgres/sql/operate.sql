-- name: place
-- Where a job stands.
-- Inputs: $1 id.
-- Output: its state, at most one row.
-- Locks: none.
select 'scheduled' from {{later}} where id = $1::bigint
union all
select 'ready' from {{job}} j
join {{ready}} r on r.lane = any (array[j.lane]) and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
where j.id = $1::bigint
union all
select 'parked' from {{job}} j
join {{parked}} p on p.gate = any (array[j.gate]) and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id
where j.id = $1::bigint
union all
select 'running' from {{running}} where id = $1::bigint
union all
select 'waiting' from {{waiting}} where id = $1::bigint
union all
select case outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end from {{done}} where id = $1::bigint;

-- name: cancel_later
-- Ends a scheduled job as cancelled.
-- Inputs: $1 id, $2 reason or null, $3 error, $4 whether it gives back even a
--   key that it would hold forever.
-- Output: its lane, if it was there.
-- Locks: the job, its key.
with moved as materialized (
    delete from {{later}} where id = $1::bigint returning id, lane, attempt, failures, crashes
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, 0, 0, 0, {{now}}, lane, attempt, failures, crashes, 3, $2::text, $3::text from moved
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where j.job_key is not null and ($4::bool or j.flags & 1 = 0)
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
)
select lane from moved;

-- name: cancel_ready
-- Ends a ready job as cancelled.
-- Inputs, output, locks: as cancel_later.
with moved as materialized (
    delete from {{ready}} r
    using {{job}} j
    where j.id = $1::bigint
      and r.lane = any (array[j.lane]) and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
    returning r.id, r.lane, r.attempt, r.failures, r.crashes
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, 0, 0, 0, {{now}}, lane, attempt, failures, crashes, 3, $2::text, $3::text from moved
),
freed as (
    delete from {{jobkey}} k
    using moved d
    cross join lateral (select id, lane, flags, job_key from {{job}} where id = d.id offset 0) j
    join {{lane}} l on l.id = any (array[j.lane])
    where j.job_key is not null and ($4::bool or j.flags & 1 = 0)
      and k.tenant = any (array[l.tenant]) and k.job_key = j.job_key and k.id = j.id
)
select lane from moved;

-- name: cancel_waiting
-- Ends a waiting job as cancelled.
-- Inputs: $1 id, $2 error.
-- Output: its lane, if it was there.
-- Locks: the job, its key.
with moved as materialized (
    delete from {{waiting}} where id = $1::bigint returning id, fence, node, started_at, lane, attempt, failures, crashes, held
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, error)
    select id, fence, node, started_at, {{now}}, lane, attempt, failures, crashes, 3, $2::text from moved
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
select lane from moved;

-- name: wish
-- Asks for a running job to be cancelled. The first reason stays.
-- Inputs: $1 id, $2 reason.
-- Output: its lane, if it was there.
-- Locks: the job.
update {{running}} set wish = coalesce(wish, $2::text) where id = $1::bigint returning lane;

-- name: lock_done
-- Holds a finished job for Reopen.
-- Inputs: $1 id.
-- Output: outcome, tenant, key or null, flags.
-- Locks: the job.
select d.outcome, l.tenant, j.job_key, j.flags
from {{done}} d
join {{job}} j on j.id = any (array[d.id])
join {{lane}} l on l.id = any (array[j.lane])
where d.id = $1::bigint
for update of d;

-- name: retake_key
-- Takes a key for a job again. key_holders tells whether it has it now.
-- Inputs: $1 tenant, $2 key, $3 id.
-- Locks: the key; waits for transactions that take or give it back.
insert into {{jobkey}} (tenant, job_key, id) values ($1::text, $2::text, $3::bigint) on conflict do nothing;

-- name: reopen
-- Makes a finished job ready, or parks it, with its failures and crashes
-- forgotten.
-- Inputs: $1 id, locked by lock_done.
-- Output: its lane.
-- Locks: the job.
with moved as materialized (
    delete from {{done}} where id = $1::bigint returning id, attempt
),
opened as materialized (
    select j.lane, j.turn, j.start_by, j.id, m.attempt, j.gate from moved m join {{job}} j on j.id = any (array[m.id])
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

-- name: reschedule_later
-- Changes when a scheduled job is due; one that has a gate and no place is then
-- parked. start_by moves along if it was the due
-- time.
-- Inputs: $1 id, $2 due time or 0 for now.
-- Output: its lane, if it was there.
-- Locks: the job.
with moved as materialized (
    delete from {{later}} where id = $1::bigint returning id, lane, attempt, failures, crashes
),
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
select lane from moved;

-- name: reschedule_ready
-- Changes when a ready job is due.
-- Inputs, output, locks: as reschedule_later.
with moved as materialized (
    delete from {{ready}} r
    using {{job}} j
    where j.id = $1::bigint
      and r.lane = any (array[j.lane]) and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
    returning r.id, r.lane, r.attempt, r.failures, r.crashes
),
clock as materialized (
    select now, case $2::bigint when 0 then now else $2::bigint end as due
    from (select {{now}} as now from (select count(*) from moved) after_locking) c
),
changed as (
    update {{job}} j
    set not_before = due, start_by = case when j.start_by = case j.not_before when 0 then j.created_at else j.not_before end then due else j.start_by end
    from moved m, clock
    where j.id = any (array[m.id])
    returning j.id, j.turn, j.start_by
),
postponed as (
    insert into {{later}} (id, not_before, lane, attempt, failures, crashes)
    select id, due, lane, attempt, failures, crashes from moved, clock where due > now
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select m.lane, (m.crashes >= {{solo_after}})::int, c.turn, c.start_by, m.id, m.attempt, m.failures, m.crashes
    from moved m join changed c on c.id = m.id, clock
    where due <= now
)
select lane from moved;

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

-- name: turn_ready
-- Changes the priority of a ready job.
-- Inputs: $1 id, $2 turn.
-- Output: its lane, if it was there.
-- Locks: the job and its job row.
with moved as materialized (
    delete from {{ready}} r
    using {{job}} j
    where j.id = $1::bigint
      and r.lane = any (array[j.lane]) and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
    returning r.lane, r.solo, r.start_by, r.id, r.attempt, r.failures, r.crashes
),
changed as (
    update {{job}} j set turn = $2::smallint from moved m where j.id = any (array[m.id])
)
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select lane, solo, $2::smallint, start_by, id, attempt, failures, crashes from moved
returning lane;

-- name: turn_later
-- Changes the priority of a scheduled job.
-- Inputs, output, locks: as turn_ready.
with held as materialized (select id from {{later}} where id = $1::bigint for update)
update {{job}} j set turn = $2::smallint from held h where j.id = any (array[h.id])
returning j.lane;

-- name: turn_running
-- Changes the priority of a running job.
-- Inputs, output, locks: as turn_ready.
with held as materialized (select id from {{running}} where id = $1::bigint for update)
update {{job}} j set turn = $2::smallint from held h where j.id = any (array[h.id])
returning j.lane;

-- name: turn_waiting
-- Changes the priority of a waiting job.
-- Inputs, output, locks: as turn_ready.
with held as materialized (select id from {{waiting}} where id = $1::bigint for update)
update {{job}} j set turn = $2::smallint from held h where j.id = any (array[h.id])
returning j.lane;

-- name: delete_later
-- Takes a scheduled job out of its place, to be forgotten.
-- Inputs: $1 id.
-- Output: its id, if it was there.
-- Locks: the job.
delete from {{later}} where id = $1::bigint returning id;

-- name: delete_ready
-- Takes a ready job out of its place, to be forgotten.
-- Inputs, output, locks: as delete_later.
delete from {{ready}} r
using {{job}} j
where j.id = $1::bigint
  and r.lane = any (array[j.lane]) and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
returning r.id;

-- name: delete_done
-- Takes a finished job out of its place, to be forgotten.
-- Inputs, locks: as delete_later.
-- Output: how it ended.
delete from {{done}} where id = $1::bigint returning outcome;

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
