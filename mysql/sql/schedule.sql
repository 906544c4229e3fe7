-- Statements of schedules, their runs, and calendars. They run only in the
-- store's own transactions, at READ COMMITTED. First the schedule is locked, then
-- its open runs, then jobs in their places. A transaction that reopens a run locks
-- the other way round, and is retried if the two meet.

-- name: add_schedule
-- Stores a new schedule. It fails if its name is taken.
-- Inputs: name, tenant, calendar, enabled, body, created_at, updated_at, due,
--   fire_at, next_fire, calendar_seen.
-- Output: none; the insert id is its id.
-- Locks: the inserted row; waits for others who take the same name.
insert into {{schedule}} (name, tenant, calendar, enabled, body, version, created_at, updated_at, due, fire_at, next_fire, calendar_seen)
values (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?);

-- name: set_schedule
-- Replaces what is declared of a schedule that is locked. It fails if its name is
-- taken.
-- Inputs: name, tenant, calendar, enabled, body, version, updated_at, due,
--   fire_at, next_fire, calendar_seen, id.
-- Output: none.
-- Locks: the row; waits for others who take the same name.
update {{schedule}}
set name = ?, tenant = ?, calendar = ?, enabled = ?, body = ?, version = ?, updated_at = ?, due = ?, fire_at = ?, next_fire = ?, calendar_seen = ?
where id = ?;

-- name: delete_schedule
-- Deletes a schedule that is locked: its runs still name it.
-- Inputs: time, id.
-- Output: none.
-- Locks: the row.
update {{schedule}} set alive = null, deleted_at = ?, calendar = null, next_fire = null where id = ?;

-- name: advance_schedules
-- Advances schedules that are locked.
-- Inputs: {{json_rows}} of id, due, fire_at, last_job, last_due, last_trigger,
--   last_number, last_state, last_ended_at, skipped, standing, calendar_seen.
-- Output: none.
-- Locks: the rows.
update json_table(_utf8mb4'[{{json_rows}}]', '$[*]' columns (
  id bigint path '$[0]', due bigint path '$[1]', fire_at bigint path '$[2]', last_job bigint path '$[3]',
  last_due bigint path '$[4]', last_trigger varchar(32) path '$[5]', last_number int path '$[6]',
  last_state varchar(32) path '$[7]', last_ended_at bigint path '$[8]', skipped int path '$[9]', standing varchar(800) path '$[10]', calendar_seen bigint path '$[11]')) v
straight_join {{schedule}} s force index (primary) on s.id = v.id
set s.due = v.due, s.fire_at = v.fire_at, s.next_fire = case when s.enabled = 1 then nullif(v.fire_at, 0) end,
  s.last_job = v.last_job, s.last_due = v.last_due, s.last_trigger = coalesce(unhex(v.last_trigger), ''),
  s.last_number = v.last_number, s.last_state = coalesce(unhex(v.last_state), ''), s.last_ended_at = v.last_ended_at, s.skipped = v.skipped,
  s.standing = coalesce(unhex(v.standing), ''), s.calendar_seen = v.calendar_seen;

-- name: lock_due_schedules
-- Locks schedules that are due, earliest first.
-- Inputs: limit, {{except}}: ids of schedules that are left out.
-- Output: the columns of sqlstore.ScanSchedule.
-- Locks: rows of schedule; skips what is locked.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_trigger, last_number, last_state, last_ended_at, skipped, standing,
       coalesce(calendar, ''), calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), alive is null
from {{schedule}} force index (next_fire)
where next_fire <= {{clock}} and id not in ({{except}})
order by next_fire, id
limit ?
for update skip locked;

-- name: lock_schedules
-- Locks schedules, deleted ones too.
-- Inputs: {{list}} of ids.
-- Output: as lock_due_schedules.
-- Locks: rows of schedule, in order of id; skips locked rows.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_trigger, last_number, last_state, last_ended_at, skipped, standing,
       coalesce(calendar, ''), calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), alive is null
from {{schedule}} force index (primary)
where id in ({{list}})
order by id
for update skip locked;

-- name: lock_schedule
-- Locks a schedule, a deleted one too.
-- Inputs: {{list}} of its id.
-- Output: as lock_due_schedules.
-- Locks: the row of schedule.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_trigger, last_number, last_state, last_ended_at, skipped, standing,
       coalesce(calendar, ''), calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), alive is null
from {{schedule}} force index (primary)
where id in ({{list}})
for update;

-- name: schedule_rows
-- Nothing: the statements that lock schedules read them.

-- name: schedules
-- Lists living schedules by name.
-- Inputs: name after which to look, {{named}}: further conditions or nothing,
--   limit.
-- Output: what was declared, and how far they have come.
-- Locks: none.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_trigger, last_number, last_state, last_ended_at, skipped, standing,
       coalesce(calendar, ''), calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), false
from {{schedule}}
where alive = 1 and name > ? {{named}}
order by name
limit ?;

-- name: schedules_soonest
-- Lists the schedules that fire next, in that order.
-- Inputs: limit.
-- Output: as schedules.
-- Locks: none.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_trigger, last_number, last_state, last_ended_at, skipped, standing,
       coalesce(calendar, ''), calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), false
from {{schedule}} force index (next_fire)
where next_fire is not null
order by next_fire, id
limit ?;

-- name: next_fire
-- Reads the time until the next schedule is due.
-- Inputs: {{except}}: ids of schedules that are left out.
-- Output: microseconds, not negative; no row if there is none.
-- Locks: none.
select greatest(next_fire - {{now}}, 0)
from {{schedule}} force index (next_fire)
where next_fire is not null and id not in ({{except}})
order by next_fire, id
limit 1;

-- name: open_window
-- Tells how many open runs there are behind an id, as far as they are looked at
-- together, and the last of them.
-- Inputs: id, limit.
-- Output: their number, the last id (null if there is none).
-- Locks: none.
select count(*), max(id) from (select id from {{open_fire}} force index (primary) where id > ? order by id limit ?) w;

-- name: ended_schedules
-- Lists schedules of open runs that have ended. The job of one that was deleted
-- is nowhere.
-- Inputs: id behind which to look, last id, limit.
-- Output: schedule.
-- Locks: none.
select distinct o.schedule
from {{open_fire}} o force index (primary)
left join {{done}} d force index (primary) on d.id = o.id
left join {{job}} j force index (primary) on j.id = o.id
where o.id > ? and o.id <= ? and (d.id is not null or j.id is null)
limit ?;

-- name: lock_open_fires
-- Locks the open runs of schedules that are locked: no other transaction reopens one
-- of them from here on. A run that another transaction reopens meanwhile is either seen as
-- active, or opened again after this transaction commits.
-- Inputs: {{list}} of schedules.
-- Output: id, due; without due the server may scan the whole index.
-- Locks: rows of open_fire.
select id, due from {{open_fire}} force index (schedule) where schedule in ({{list}}) for update;

-- name: open_fires
-- A part of fires: names the open runs of schedules.
-- Inputs: {{list}} of schedules.
-- Output: columns as fires asks for.
-- Locks: none.
select id, schedule, due, cause, number, '' as skip, state from {{open_fire}} force index (schedule) where schedule in ({{list}});

-- name: last_fires
-- Reads of each schedule the run with the newest instant of those that have ended, as the
-- schedule has learned, and were meant to run.
-- Inputs: {{list}} of schedules.
-- Output: as fires.
-- Locks: none.
select f.id, f.schedule, f.due, f.cause, f.number, f.skip, false,
       case d.outcome when 1 then 'succeeded' when 2 then 'failed' else 'cancelled' end, d.finished_at
from (
  select (select b.id
          from {{fire}} b force index (instant)
          straight_join {{done}} e force index (primary) on e.id = b.id
          left join {{open_fire}} o force index (primary) on o.id = b.id
          where b.schedule = s.id and b.skip = '' and o.id is null
          order by b.schedule desc, b.due desc, b.source desc
          limit 1) as id
  from {{schedule}} s force index (primary)
  where s.id in ({{list}}) and s.version >= 0
) a
straight_join {{fire}} f force index (primary) on f.id = a.id
straight_join {{done}} d force index (primary) on d.id = a.id;

-- name: fires_chosen
-- Names runs, newest first, for fires.
-- Inputs: {{index}}, {{named}}: the conditions, {{limit}}.
-- Output: columns as fires asks for.
-- Locks: none.
select id, schedule, due, cause, number, skip, '' as state from {{fire}} force index ({{index}}) where {{named}} order by id desc limit {{limit}};

-- name: fires
-- Tells how the jobs of runs stand. What is in none of the places that can be
-- looked up by id alone is ready or parked. If a job was deleted, its run ended as was noted
-- then. If a job is missing otherwise, its run counts as failed.
-- Inputs: {{choice}}: a statement that names the runs.
-- Output: the columns of sqlstore.ScanFire, in the order in which the jobs were made; ids of
--   different processes do not tell.
-- Locks: none.
select f.id, f.schedule, f.due, f.cause, f.number, f.skip,
       d.id is null and coalesce(l.not_before, 0) = {{never}},
       case
         when d.id is not null then case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' when 4 then 'skipped' else '' end
         when j.id is null then coalesce(nullif(f.state, ''), 'failed')
         when l.id is not null then 'scheduled'
         when r.id is not null then 'running'
         when w.id is not null then 'waiting'
         when exists (select 1 from {{parked}} p force index (primary)
                      where p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id) then 'parked'
         else 'ready'
       end,
       coalesce(d.finished_at, 0)
from ({{choice}}) f
left join {{job}} j force index (primary) on j.id = f.id
left join {{done}} d force index (primary) on d.id = f.id
left join {{later}} l force index (primary) on l.id = f.id
left join {{running}} r force index (primary) on r.id = f.id
left join {{waiting}} w force index (primary) on w.id = f.id
order by coalesce(j.created_at, 0), f.id;

-- name: newest_instants
-- Reads the newest instant with a run of each schedule, and the time under the locks.
-- Inputs: {{list}} of schedules, at least one.
-- Output: schedule, due; 0 if it has no runs, now.
-- Locks: none.
select s.id, coalesce((select f.due from {{fire}} f force index (instant) where f.schedule = s.id order by f.schedule desc, f.due desc limit 1), 0), {{now}}
from {{schedule}} s force index (primary)
where s.id in ({{list}}) and s.version >= 0;

-- name: taken_instants
-- Lists the instants that have runs. Their schedules are locked, so no other transaction
-- adds such a run.
-- Inputs: {{json_rows}} of schedule, due.
-- Output: schedule, due, whether the run is by the clock or to catch up.
-- Locks: none.
select f.schedule, f.due, f.source = 0
from json_table(_utf8mb4'[{{json_rows}}]', '$[*]' columns (schedule bigint path '$[0]', due bigint path '$[1]')) v
straight_join {{fire}} f force index (instant) on f.schedule = v.schedule and f.due = v.due;

-- name: add_fires
-- Stores runs.
-- Inputs: {{rows}} of all columns, and whether the run is queued, which is not needed.
-- Output: none.
-- Locks: inserted rows.
insert into {{fire}} (id, schedule, due, source, cause, number, skip) values {{rows}}(?, ?, ?, ?, ?, ?, ?){{end}};

-- name: add_open_fires
-- Notes that runs have not ended.
-- Inputs: {{rows}} of all columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{open_fire}} (id, schedule, due, cause, number) values {{rows}};

-- name: close_fires
-- Notes that open runs, which are locked, have ended.
-- Inputs: {{json_rows}} of id, schedule, state and time of the end, which are not needed.
-- Output: none.
-- Locks: rows of open_fire.
delete o
from json_table(_utf8mb4'[{{json_rows}}]', '$[*]' columns (id bigint path '$[0]', schedule bigint path '$[1]')) v
straight_join {{open_fire}} o force index (primary) on o.id = v.id and o.schedule = v.schedule;

-- name: drop_lost_fires
-- Nothing: drop_fires removes a run with its job.

-- name: see_calendars
-- Nothing: advance_schedules does it.

-- name: schedule_of_run
-- Tells whose run a job is. That never changes.
-- Inputs: id.
-- Output: schedule.
-- Locks: none.
select schedule from {{fire}} force index (primary) where id = ?;

-- name: lock_declared
-- Locks a schedule, so that no other transaction decides about its runs, and reads what is
-- declared of it.
-- Inputs: schedule.
-- Output: name, body; none if it was deleted.
-- Locks: the row of schedule.
select name, body from {{schedule}} force index (primary) where id = ? and deleted_at is null for update;

-- name: reopen_fire
-- Opens the run that a job is again. A run whose end no transaction has noticed yet is
-- still open, and stays as it is.
-- Inputs: id.
-- Output: none.
-- Locks: the row of open_fire; waits for a transaction that looks at the schedule's runs.
insert into {{open_fire}} (id, schedule, due, cause, number)
select f.id, f.schedule, f.due, f.cause, f.number from {{fire}} f force index (primary) where f.id = ?
on duplicate key update number = values(number);

-- name: note_deleted
-- Notes how a run whose job is about to be deleted has ended, if its schedule was not
-- told of it.
-- Inputs: state, id.
-- Output: none.
-- Locks: the row of open_fire; waits for a transaction that looks at the schedule's runs.
update {{open_fire}} force index (primary) set state = ? where id = ?;

-- name: drop_fires
-- Removes runs with their jobs.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of fire.
delete f from {{fire}} f force index (primary) where {{among}} and schedule >= 0;

-- name: lock_old_schedules
-- Locks schedules that were deleted before a time and of whose runs none is left,
-- open or kept.
-- Inputs: time, limit.
-- Output: id.
-- Locks: rows of schedule; skips what is locked.
select s.id
from {{schedule}} s force index (deleted_at)
where s.deleted_at < ?
  and not exists (select 1 from {{fire}} f force index (listing) where f.schedule = s.id)
  and not exists (select 1 from {{open_fire}} o force index (schedule) where o.schedule = s.id)
order by s.deleted_at
limit ?
for update skip locked;

-- name: drop_schedules
-- Removes schedules that are locked.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: the rows.
delete s from {{schedule}} s force index (primary) where {{among}} and version >= 0;

-- name: change_calendars
-- Opens a change of calendars. The next one waits for it.
-- Inputs: by how much the version grows.
-- Output: none.
-- Locks: the counter of calendars.
update {{counter}} set value = value + ? where name = 'calendar';

-- name: lock_calendar
-- Keeps a calendar from being deleted or made anew.
-- Inputs: name.
-- Output: its version, if it exists.
-- Locks: the row; waits for schedules that are about to name it.
select version from {{calendar}} force index (primary) where name = ? for update;

-- name: calendar_change
-- What a change of a calendar needs. It follows change_calendars.
-- Inputs: none.
-- Output: a version that is larger than any there was, and the time.
-- Locks: none; the counter is locked.
select value, {{now}} from {{counter}} where name = 'calendar';

-- name: add_calendar
-- Stores a new calendar, unless there is one of its name.
-- Inputs: body, version, name.
-- Output: none.
-- Locks: the inserted row.
insert {{unless_taken}} into {{calendar}} (body, version, name) values (?, ?, ?);

-- name: share_calendar
-- Finds a calendar that a schedule is about to name. It stays until that is done.
-- Inputs: name.
-- Output: version.
-- Locks: the row, shared.
select version from {{calendar}} where name = ? lock in share mode;

-- name: calendar_user
-- Finds a living schedule that names a calendar.
-- Inputs: calendar.
-- Output: name.
-- Locks: none.
select name from {{schedule}} force index (calendar) where calendar = ? order by id limit 1;

-- name: outdated_calendars
-- Finds out which calendars have living schedules that were computed with another
-- version. Each costs two look-ups.
-- Inputs: smallest version, limit.
-- Output: version, id of such a schedule or 0, name, in the order of versions.
-- Locks: none.
select c.version, coalesce(
         (select s.id from {{schedule}} s force index (calendar_seen) where s.calendar = c.name and s.calendar_seen < c.version limit 1),
         (select s.id from {{schedule}} s force index (calendar_seen) where s.calendar = c.name and s.calendar_seen > c.version limit 1), 0), c.name
from {{calendar}} c force index (version)
where c.version >= ?
order by c.version
limit ?;

-- name: outdated_schedules
-- Lists living schedules that were computed with another version of their calendar.
-- Inputs: name, version, limit.
-- Output: id.
-- Locks: none.
(select id from {{schedule}} force index (calendar_seen) where calendar = ?1 and calendar_seen < ?2 limit ?3)
union all
(select id from {{schedule}} force index (calendar_seen) where calendar = ?1 and calendar_seen > ?2 limit ?3);

-- name: calendars_of
-- Reads the calendars that schedules name.
-- Inputs: {{list}} of ids of schedules.
-- Output: the columns.
-- Locks: none.
select c.name, c.body, c.version
from (select distinct calendar from {{schedule}} force index (primary) where id in ({{list}}) and calendar is not null) n
straight_join {{calendar}} c force index (primary) on c.name = n.calendar;
