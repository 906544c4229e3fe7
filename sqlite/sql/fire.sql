-- Statements about the runs of schedules. Those that write run in one transaction
-- that has the write lock.

-- name: ended_schedules
-- Finds schedules with runs that have ended since they were last told. It looks
-- at every open run.
-- Inputs: limit.  Output: schedule.  Locks: none.
select distinct f.schedule
from {{fire}} f
left join {{job}} j on j.id = f.job
left join {{done}} d on d.id = f.job
where f.open = 1 and (d.id is not null or j.id is null)
limit 0 + ?;

-- name: lock_open_fires
-- Nothing: there is one writer.

-- name: open_fires
-- Reads the open runs of schedules as their jobs stand. Those whose job was
-- deleted stand as was noted then, those whose job is missing otherwise have failed;
-- neither have an end.
-- Inputs: schedules as a JSON array.
-- Output: the columns of sqlstore.ScanFire, in order of job.  Locks: none.
select f.job, f.schedule, f.due, f.made_by, f.number, f.skip, f.queued = 1 and coalesce(l.not_before, 0) = {{never}},
       case when l.id is not null then 'scheduled' when r.id is not null then 'ready' when p.id is not null then 'parked'
            when u.id is not null then 'running' when w.id is not null then 'waiting'
            else case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' when 4 then 'skipped'
                 else coalesce(nullif(f.state, ''), 'failed') end end,
       coalesce(d.finished_at, 0)
from json_each(?) v
cross join {{fire}} f on f.schedule = v.value and f.open = 1
left join {{job}} j on j.id = f.job
left join {{later}} l on l.id = f.job
left join {{ready}} r on r.lane = j.lane and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
left join {{parked}} p on p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id
left join {{running}} u on u.id = f.job
left join {{waiting}} w on w.id = f.job
left join {{done}} d on d.id = f.job
order by f.job;

-- name: fires
-- Reads runs as their jobs stand. The conditions on f are put behind it.
-- Inputs: none.
-- Output: the columns of sqlstore.ScanFire.  Locks: none.
select f.job, f.schedule, f.due, f.made_by, f.number, f.skip, f.queued = 1 and coalesce(l.not_before, 0) = {{never}},
       case when l.id is not null then 'scheduled' when r.id is not null then 'ready' when p.id is not null then 'parked'
            when u.id is not null then 'running' when w.id is not null then 'waiting'
            else case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 4 then 'skipped' else 'cancelled' end end,
       coalesce(d.finished_at, 0)
from {{fire}} f
cross join {{job}} j on j.id = f.job
left join {{later}} l on l.id = f.job
left join {{ready}} r on r.lane = j.lane and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
left join {{parked}} p on p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id
left join {{running}} u on u.id = f.job
left join {{waiting}} w on w.id = f.job
left join {{done}} d on d.id = f.job;

-- name: last_fires
-- Reads of each schedule the run with the newest instant of those that have ended and
-- were not skipped, as the schedule has learned.
-- Inputs: schedules as a JSON array.  Output: the columns of sqlstore.ScanFire.  Locks: none.
select f.job, f.schedule, f.due, f.made_by, f.number, f.skip, f.queued, f.state, f.ended_at
from json_each(?) v
cross join {{fire}} f on f.job = (
  select job from {{fire}}
  where schedule = v.value and open = 0 and skip = ''
  order by due desc, job desc
  limit 1);

-- name: newest_instants
-- Reads the newest instant with a run of each schedule, and the time.
-- Inputs: schedules as a JSON array, at least one.  Output: schedule, due; 0 if it has no
-- runs, now.  Locks: none.
select v.value, coalesce((select due from {{fire}} where schedule = v.value order by due desc limit 1), 0), {{now}}
from json_each(?1) v;

-- name: taken_instants
-- Finds instants that have runs.
-- Inputs: {{rows}} of schedule and due.
-- Output: schedule, due, whether the run is by the clock or to catch up.  Locks: none.
select f.schedule, f.due, f.source = 0
from json_each({{rows}}) v
cross join {{fire}} f on f.schedule = v.value ->> 0 and f.due = v.value ->> 1;

-- name: add_fires
-- Stores runs. A skip is not news for its schedule; the end of any other run is, also if its
-- job was refused.
-- Inputs: {{rows}} of job, schedule, due, source, trigger, number, skip and whether it is
-- queued.  Output: none.  Locks: the writer's.
insert into {{fire}} (job, schedule, due, source, made_by, number, skip, queued, open, state, ended_at)
select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 6 = '',
       case value ->> 6 when '' then '' else 'skipped' end, case value ->> 6 when '' then 0 else {{now}} end
from json_each({{rows}});

-- name: add_open_fires
-- Nothing: add_fires does it.

-- name: close_fires
-- Notes that schedules have learned of the ends of runs.
-- Inputs: {{rows}} of job, schedule, state and ended_at.  Output: none.
-- Locks: the writer's.
update {{fire}} set open = 0, queued = 0, state = v.state, ended_at = v.ended_at
from (select value ->> 0 as job, value ->> 2 as state, value ->> 3 as ended_at from json_each({{rows}})) v
where {{fire}}.job = v.job;

-- name: drop_lost_fires
-- Removes runs whose jobs are gone, after close_fires.
-- Inputs: jobs as a JSON array.  Output: none.  Locks: the writer's.
delete from {{fire}} where job in (select value from json_each(?));

-- name: leave_fires
-- Notes that the ends of the runs of a schedule are no news any more.
-- Inputs: schedule.  Output: none.  Locks: the writer's.
update {{fire}} set open = 0 where schedule = ? and open = 1;

-- name: admit_fires
-- Notes that runs do not wait for others any more.
-- Inputs: jobs as a JSON array.  Output: none.  Locks: the writer's.
update {{fire}} set queued = 0 where job in (select value from json_each(?));

-- name: declared_of_run
-- Reads what is declared of the schedule of a run.
-- Inputs: job.  Output: schedule, name, body; none if the schedule was deleted.  Locks: none.
select s.id, s.name, s.body
from {{fire}} f
cross join {{schedule}} s on s.id = f.schedule
where f.job = ? and s.deleted_at = 0;

-- name: reopen_fire
-- Opens a run again, unless its schedule was deleted.
-- Inputs: job.  Output: none.  Locks: the writer's.
update {{fire}} set open = 1, queued = 0, state = '', ended_at = 0
where job = ? and (select s.deleted_at from {{schedule}} s where s.id = schedule) = 0;

-- name: delete_fires
-- Removes runs with their jobs. An open run stays until its schedule has seen its end.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{fire}} where job in (select value from json_each(?)) and open = 0;

-- name: note_deleted
-- Notes how a run whose job is about to be deleted has ended, for its schedule. If the
-- schedule has seen the end, delete_fires removes the run in the same transaction.
-- Inputs: state, job.  Output: none.  Locks: the writer's.
update {{fire}} set state = ? where job = ?;
