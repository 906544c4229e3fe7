-- name: look_at_open
-- Looks at open runs for such that have ended, or whose jobs are missing.
-- Inputs: $1 $2 schedule and job after which to begin, $3 how many to look at,
--   $4 how many to find.
-- Output: schedule, job, whether it has ended, whether there may be more behind it;
--   of those of which one is true; in order.
-- Locks: none.
select schedule, job, ended, n = $3::int
from (
    select o.schedule, o.job, o.gone or (select true from {{done}} where id = o.job) is not null or (select true from {{job}} where id = o.job) is null as ended,
           row_number() over (order by o.schedule, o.job) as n
    from (
        select schedule, job, gone from {{open_fire}} where (schedule, job) > ($1::bigint, $2::bigint) order by schedule, job limit $3::int
    ) o
) w
where ended or n = $3::int
order by schedule, job
limit $4::int;

-- name: lock_due_schedules
-- Takes schedules that are due, earliest first.
-- Inputs: $1 at most so many, $2 ids of schedules that are left out.
-- Output: ids.
-- Locks: their cursors; passes over those locked by others.
select schedule from {{cursor}}
where enabled and fire_at <> 0 and fire_at <= (select {{now}}) and schedule <> all ($2::bigint[])
order by fire_at, schedule limit $1::int for update skip locked;

-- name: lock_schedules
-- Takes schedules.
-- Inputs: $1 ids.
-- Output: ids.
-- Locks: their cursors; passes over those locked by others.
select schedule from {{cursor}} where schedule = any ($1::bigint[]) order by schedule for update skip locked;

-- name: next_fire
-- How long it is until the next schedule is due.
-- Inputs: $1 ids of schedules that are left out.
-- Output: microseconds, not negative; no row if there is none.
-- Locks: none.
select greatest(fire_at - (select {{now}}), 0) from {{cursor}}
where enabled and fire_at <> 0 and schedule <> all ($1::bigint[]) order by fire_at, schedule limit 1;

-- name: whereabouts
-- A part of statements that read runs: where their jobs stand.
-- Inputs: job of f.
-- Output: state and ended_at of p.
-- Locks: none.
left join lateral (select outcome, finished_at from {{done}} where id = f.job offset 0) d on true
cross join lateral (
    select case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' when 4 then 'skipped' else coalesce(
        (select 'running' from {{running}} where id = f.job),
        (select 'waiting' from {{waiting}} where id = f.job),
        (select 'scheduled' from {{later}} where id = f.job),
        (select 'ready' from (select lane, turn, start_by, id from {{job}} where id = f.job offset 0) j
         cross join lateral (select from {{ready}} where lane = j.lane and solo in (0, 1) and turn = j.turn and start_by = j.start_by and id = j.id offset 0) r),
        (select 'parked' from (select gate, turn, start_by, id from {{job}} where id = f.job offset 0) j
         cross join lateral (select from {{parked}} where gate = j.gate and turn = j.turn and start_by = j.start_by and id = j.id offset 0) w),
        '') end as state, coalesce(d.finished_at, 0) as ended_at
) p;

-- name: lock_open_fires
-- Nothing: a transaction that opens a run again locks its schedule before.

-- name: open_fires
-- The open runs of schedules, as their jobs stand. One whose job was deleted stands as
-- was noted then; one whose job is missing otherwise has failed.
-- Inputs: $1 schedules.
-- Output: what ScanFire in internal/sqlstore reads, oldest first.
-- Locks: none.
select f.job, f.schedule, f.due, f.trigger, f.number, f.skip,
       o.queued and coalesce((select not_before from {{later}} where id = f.job) = {{never}}, false),
       coalesce(nullif(p.state, ''), nullif(o.state, ''), 'failed'), p.ended_at
from {{open_fire}} o
cross join lateral (select * from {{fire}} where job = o.job offset 0) f
{{whereabouts}}
where o.schedule = any ($1::bigint[])
order by f.job;

-- name: fires
-- Runs of schedules whose jobs are kept, as these stand.
-- Inputs: $1 job below which to begin, $2 at most so many, $3 the time that never
--   comes, $4 as the chosen part says, $5 schedule or 0 for all.
-- Output: what ScanFire in internal/sqlstore reads, newest first.
-- Locks: none.
select f.job, f.schedule, f.due, f.trigger, f.number, f.skip,
       coalesce(o.queued and (select not_before from {{later}} where id = f.job) = $3::bigint, false), p.state, p.ended_at
from ({{choice}}) f
left join lateral (select queued from {{open_fire}} where schedule = f.schedule and job = f.job offset 0) o on true
{{whereabouts}}
order by f.job desc;

-- name: fires_of_jobs
-- A part of fires: looks them up by job.
-- Inputs: $4 jobs.
-- Locks: none.
select f.* from {{fire}} f
where f.job = any ($4::bigint[]) and f.job < $1::bigint and ($5::bigint = 0 or f.schedule = $5::bigint)
  and (select true from {{job}} where id = f.job)
order by f.job desc limit $2::int;

-- name: fires_of_schedule
-- A part of fires: those of one schedule.
-- Inputs: $4 null.
-- Locks: none.
select f.* from {{fire}} f
where f.schedule = $5::bigint and f.schedule <> 0 and f.job < $1::bigint and $4::bigint[] is null
  and (select true from {{job}} where id = f.job)
order by f.schedule desc, f.job desc limit $2::int;

-- name: fires_of_all
-- A part of fires: all of them.
-- Inputs: $4 null.
-- Locks: none.
select f.* from {{fire}} f
where f.job < $1::bigint and $4::bigint[] is null and $5::bigint = 0
  and (select true from {{job}} where id = f.job)
order by f.job desc limit $2::int;

-- name: calendars_of
-- The calendars that schedules name.
-- Inputs: $1 ids of schedules.
-- Output: name, body, version.
-- Locks: none.
select c.name, c.body, c.version
from (
    select distinct s.calendar
    from unnest($1::bigint[]) as a (id)
    cross join lateral (select calendar from {{schedule}} where id = a.id offset 0) s
    where s.calendar <> ''
) n
cross join lateral (select * from {{calendar}} where name = n.calendar offset 0) c;

-- name: cancel_runs
-- Ends jobs as cancelled, wherever they are. A job that another transaction moves
-- meanwhile may be missed: live_runs tells, and then it is to be tried again. A
-- running one is taken from its node, whose settlement finds it gone.
-- Inputs: $1 ids, $2 reason or null, $3 error, $4 the time that never comes, if
--   only queued ones are meant, else null.
-- Output: id, finished_at, whether it was running, whether it gave back slots.
-- Locks: the jobs, their keys.
with scheduled as (
    delete from {{later}} where id = any ($1::bigint[]) and not_before = coalesce($4::bigint, not_before)
    returning id, lane, attempt, failures, crashes
),
parked as (
    delete from {{parked}}
    where $4::bigint is null and ctid = any (array(
        select p.spot from unnest($1::bigint[]) as a (id)
        cross join lateral (select gate, turn, start_by, id from {{job}} where id = a.id offset 0) j
        cross join lateral (
            select ctid as spot from {{parked}} where gate = j.gate and turn = j.turn and start_by = j.start_by and id = j.id offset 0
        ) p))
    returning id, lane, attempt, failures, crashes
),
ready as (
    delete from {{ready}}
    where $4::bigint is null and ctid = any (array(
        select r.spot from unnest($1::bigint[]) as a (id)
        cross join lateral (select lane, turn, start_by, id from {{job}} where id = a.id offset 0) j
        cross join lateral (
            select ctid as spot from {{ready}}
            where lane = j.lane and solo in (0, 1) and turn = j.turn and start_by = j.start_by and id = j.id offset 0
        ) r))
    returning id, lane, attempt, failures, crashes
),
running as (
    delete from {{running}} where id = any ($1::bigint[]) and $4::bigint is null
    returning id, fence, node, started_at, lane, attempt, failures, crashes, held
),
waiting as (
    delete from {{waiting}} where id = any ($1::bigint[]) and $4::bigint is null
    returning id, fence, node, started_at, lane, attempt, failures, crashes, held
),
moved as materialized (
    select id, 0::bigint as fence, 0::bigint as node, 0::bigint as started_at, lane, attempt, failures, crashes, null::text as held, false as ran from scheduled
    union all
    select id, 0, 0, 0, lane, attempt, failures, crashes, null, false from parked
    union all
    select id, 0, 0, 0, lane, attempt, failures, crashes, null, false from ready
    union all
    select id, fence, node, started_at, lane, attempt, failures, crashes, held, true from running
    union all
    select id, fence, node, started_at, lane, attempt, failures, crashes, held, false from waiting
),
clock as materialized (select {{now}} as now from (select count(*) from moved) after_locking),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, fence, node, started_at, now, lane, attempt, failures, crashes, 3, $2::text, $3::text from moved, clock
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
select id, now, ran, held is not null from moved, clock;

-- name: live_runs
-- Which jobs have not ended.
-- Inputs: $1 ids.
-- Output: ids.
-- Locks: none.
select j.id
from unnest($1::bigint[]) as a (id)
cross join lateral (select id from {{job}} where id = a.id offset 0) j
where (select true from {{done}} where id = j.id) is null;

-- name: admit_fires
-- Notes that runs are queued no longer.
-- Inputs, in step: $1 schedules, $2 jobs.
-- Locks: the rows.
update {{open_fire}} o set queued = false
from unnest($1::bigint[], $2::bigint[]) as a (schedule, job)
where o.schedule = any (array[a.schedule]) and o.job = a.job;

-- name: newest_instants
-- Reads the newest instant with a run of each schedule, and the time under the locks.
-- Inputs: $1 schedules, at least one.
-- Output: schedule, due or 0 if it has no runs, now.
-- Locks: none.
select a.schedule, coalesce((select due from {{fire}} where schedule = a.schedule order by due desc limit 1), 0), (select {{now}})
from unnest($1::bigint[]) as a (schedule);

-- name: taken_instants
-- Which instants have runs. Their schedules are locked, so that no other transaction
-- makes one.
-- Inputs, in step: $1 schedules, $2 due.
-- Output: schedule, due, whether the run is by the clock or to catch up.
-- Locks: none.
select a.schedule, a.due, f.shared
from unnest($1::bigint[], $2::bigint[]) as a (schedule, due)
cross join lateral (select source = 0 as shared from {{fire}} where schedule = a.schedule and due = a.due offset 0) f;

-- name: add_fires
-- Stores runs. Those that were not skipped are open.
-- Inputs, in step: $1 jobs, $2 schedules, $3 due, $4 sources, $5 triggers,
--   $6 numbers, $7 skips, $8 whether they are queued.
-- Locks: inserted rows.
with stored as (
    insert into {{fire}} (job, schedule, due, source, trigger, number, skip)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::int[], $7::text[])
)
insert into {{open_fire}} (schedule, job, queued, gone)
select schedule, job, queued, false from unnest($2::bigint[], $1::bigint[], $7::text[], $8::bool[]) as a (schedule, job, skip, queued) where skip = '';

-- name: add_open_fires
-- Nothing: add_fires does it.

-- name: record_runs
-- Stores jobs that have ended without having been run.
-- Inputs: $1 to $16 as enqueue_mixed; in step with its jobs: $17 keys or null,
--   $18 outcomes, $19 reasons or null, $20 errors.
-- Output: as verdict.
-- Locks: inserted rows.
with {{changed}},
clock as materialized (select {{now}} as now),
asked as materialized (
    select u.*, now
    from clock, unnest($7::bigint[], $8::json[], $9::bigint[], $10::bigint[], $11::int[], $12::smallint[], $13::smallint[], $14::json[], $15::text[], $16::bigint[],
                       $17::text[], $18::smallint[], $19::text[], $20::text[])
        as u (id, args, start_by, not_before, lane, turn, flags, policy, trace, gate, job_key, outcome, reason, error)
    where (select lanes from changed) is null
),
stored as (
    insert into {{job}} (id, start_by, not_before, created_at, lane, turn, flags, job_key, policy, trace, args, gate)
    select id, coalesce(nullif(start_by, 0), now), 0, now, lane, turn, flags, job_key, policy, trace, args, nullif(gate, 0) from asked
),
ended as (
    insert into {{done}} (id, fence, node, started_at, finished_at, lane, attempt, failures, crashes, outcome, reason, error)
    select id, 0, 0, 0, now, lane, 0, 0, 0, outcome, reason, error from asked
)
select {{verdict}} from changed where lanes is not null;

-- name: close_fires
-- Notes that runs have ended. Of those whose jobs were removed nothing stays. A job that is
-- removed at the same time is still visible to the statement, but its run is marked as gone.
-- Inputs, in step: $1 jobs, $2 schedules; $3 states and $4 ends are not needed.
-- Locks: the removed rows.
with closed as materialized (
    delete from {{open_fire}} o
    using unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) as a (job, schedule, state, ended_at)
    where o.schedule = any (array[a.schedule]) and o.job = a.job
    returning o.job, o.gone
)
delete from {{fire}} where job = any (array(select job from closed c where c.gone or (select true from {{job}} where id = c.job) is null));

-- name: drop_lost_fires
-- Nothing: close_fires does it.

-- name: advance_schedules
-- Notes how far schedules have come.
-- Inputs, in step: $1 ids, locked; $2 due, $3 fire_at; of the last run $4 job,
--   $5 due, $6 trigger, $7 number, $8 state, $9 ended_at; $10 skipped, $11 standing,
--   $12 versions of calendars, which see_calendars stores.
-- Locks: their cursors.
update {{cursor}} k
set due = a.due, fire_at = a.fire_at, last_job = a.last_job, last_due = a.last_due, last_ended_at = a.last_ended_at,
    last_number = a.last_number, last_trigger = a.last_trigger, last_state = a.last_state, skipped = a.skipped,
    standing = a.standing
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::int[], $8::text[], $9::bigint[], $10::bool[], $11::text[], $12::bigint[])
    as a (schedule, due, fire_at, last_job, last_due, last_trigger, last_number, last_state, last_ended_at, skipped, standing, calendar_seen)
where k.schedule = any (array[a.schedule]);

-- name: lock_fire
-- Lets no other transaction decide about the schedule of a run.
-- Inputs: $1 job.
-- Output: to be ignored.
-- Locks: the cursor; waits for a transaction that decides about the schedule.
select k.schedule
from {{fire}} f
join {{cursor}} k on k.schedule = any (array[f.schedule])
where f.job = $1::bigint
for update of k;

-- name: declared_of_run
-- What is declared of the schedule of a run. It is a statement of its own after lock_fire: its
-- snapshot shows what was declared before.
-- Inputs: $1 job.
-- Output: schedule, name, body; none if the schedule was deleted.
-- Locks: none.
select s.id, s.name, s.body
from (select schedule from {{fire}} where job = $1::bigint offset 0) f
cross join lateral (select id, name, body, deleted_at from {{schedule}} where id = f.schedule offset 0) s
where s.deleted_at = 0;

-- name: reopen_fire
-- Notes that a run has not ended after all.
-- Inputs: $1 job, its schedule locked by lock_fire.
-- Locks: the inserted row.
insert into {{open_fire}} (schedule, job, queued, gone)
select schedule, job, false, false from {{fire}} where job = $1::bigint
on conflict do nothing;

-- name: last_fires
-- The runs with the newest instants of those that were seen to have ended, and were
-- not skipped.
-- Inputs: $1 schedules.
-- Output: what ScanFire in internal/sqlstore reads, at most one per schedule.
-- Locks: none.
select f.job, f.schedule, f.due, f.trigger, f.number, f.skip, false, f.state, f.finished_at
from unnest($1::bigint[]) as a (schedule)
cross join lateral (
    select b.*, d.finished_at, case d.outcome when 1 then 'succeeded' when 2 then 'failed' else 'cancelled' end as state
    from {{fire}} b
    cross join lateral (select outcome, finished_at from {{done}} where id = b.job offset 0) d
    where b.schedule = a.schedule and b.skip = ''
      and (select true from {{open_fire}} where schedule = b.schedule and job = b.job) is null
    order by b.due desc, b.job desc limit 1
) f;
