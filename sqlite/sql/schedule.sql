-- Statements about schedules and calendars. Those that write run in one
-- transaction that has the write lock.

-- name: schedules
-- Reads schedules. The conditions are put behind it.
-- Inputs: none.  Output: the columns of sqlstore.ScanSchedule.  Locks: none.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_made_by, last_number, last_state, last_ended_at, skipped, standing,
       calendar, calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), deleted_at <> 0
from {{schedule}};

-- name: lock_schedules
-- Reads living schedules.
-- Inputs: ids as a JSON array.  Output: as schedules.  Locks: none; there is one writer.
select s.id, s.name, s.enabled, s.body, s.version, s.created_at, s.updated_at, s.due, s.fire_at,
       s.last_job, s.last_due, s.last_made_by, s.last_number, s.last_state, s.last_ended_at, s.skipped, s.standing,
       s.calendar, s.calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = s.calendar), 0), s.deleted_at <> 0
from json_each(?) v
cross join {{schedule}} s on s.id = v.value
where s.deleted_at = 0
order by s.id;

-- name: lock_schedule
-- The same as lock_schedules.

-- name: schedule_rows
-- Nothing: the statements that lock schedules read them.

-- name: schedules_soonest
-- Reads the schedules that fire next, in that order.
-- Inputs: limit.  Output: as schedules.  Locks: none.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_made_by, last_number, last_state, last_ended_at, skipped, standing,
       calendar, calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), deleted_at <> 0
from {{schedule}}
where enabled = 1 and deleted_at = 0 and fire_at <> 0
order by fire_at, id
limit 0 + ?;

-- name: lock_due_schedules
-- Reads the schedules that are due, earliest first.
-- Inputs: limit, ids that are left out as a JSON array.  Output: as schedules.  Locks: none;
-- there is one writer.
select id, name, enabled, body, version, created_at, updated_at, due, fire_at,
       last_job, last_due, last_made_by, last_number, last_state, last_ended_at, skipped, standing,
       calendar, calendar_seen, coalesce((select c.version from {{calendar}} c where c.name = {{schedule}}.calendar), 0), deleted_at <> 0
from {{schedule}}
where enabled = 1 and deleted_at = 0 and fire_at <> 0 and fire_at <= {{now}} and id not in (select value from json_each(?2))
order by fire_at, id
limit 0 + ?1;

-- name: next_fire
-- Reads the time until the next schedule is due.
-- Inputs: ids that are left out as a JSON array.  Output: microseconds, not negative; no row
-- if none will be.  Locks: none.
select max(fire_at - {{now}}, 0)
from {{schedule}}
where enabled = 1 and deleted_at = 0 and fire_at <> 0 and id not in (select value from json_each(?1))
order by fire_at
limit 1;

-- name: schedule_named
-- Finds a living schedule by its name.
-- Inputs: name.  Output: id.  Locks: none.
select id from {{schedule}} where name = ? and deleted_at = 0;

-- name: add_schedule
-- Stores a new schedule.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{schedule}} (id, name, tenant, calendar, enabled, body, version, created_at, updated_at, due, fire_at, calendar_seen)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: set_schedule
-- Replaces what was declared of a schedule.
-- Inputs: name, tenant, calendar, enabled, body, version, now, due, fire_at,
-- calendar_seen, id.
-- Output: none.  Locks: the writer's.
update {{schedule}}
set name = ?, tenant = ?, calendar = ?, enabled = ?, body = ?, version = ?, updated_at = ?, due = ?, fire_at = ?, calendar_seen = ?
where id = ?;

-- name: advance_schedules
-- Keeps how far schedules have come and what became of their runs.
-- Inputs: id, due, fire_at, the columns of the last run, skipped, standing and
-- calendar_seen of each as {{rows}}.  Output: none.
-- Locks: the writer's.
update {{schedule}}
set due = v.due, fire_at = v.fire_at, last_job = v.last_job, last_due = v.last_due, last_made_by = v.last_made_by, last_number = v.last_number,
    last_state = v.last_state, last_ended_at = v.last_ended_at, skipped = v.skipped, standing = v.standing, calendar_seen = v.calendar_seen
from (select value ->> 0 as id, value ->> 1 as due, value ->> 2 as fire_at, value ->> 3 as last_job, value ->> 4 as last_due, value ->> 5 as last_made_by,
             value ->> 6 as last_number, value ->> 7 as last_state, value ->> 8 as last_ended_at, value ->> 9 as skipped, value ->> 10 as standing,
             value ->> 11 as calendar_seen
      from json_each({{rows}})) v
where {{schedule}}.id = v.id;

-- name: delete_schedule
-- Ends the life of a schedule, which the transaction has read as living. It stays for
-- its runs.
-- Inputs: now, id.  Output: none.  Locks: the writer's.
update {{schedule}} set deleted_at = ? where id = ?;

-- name: forget_schedules
-- Removes schedules that were deleted before a time and have no runs.
-- Inputs: time, limit.  Output: none.  Locks: the writer's.
delete from {{schedule}} where id in (
  select s.id from {{schedule}} s
  where s.deleted_at <> 0 and s.deleted_at < ? and not exists (select 1 from {{fire}} f where f.schedule = s.id)
  order by s.deleted_at
  limit 0 + ?);

-- name: calendars_of
-- Reads the calendars that schedules name.
-- Inputs: ids of schedules as a JSON array.  Output: name, body, version.  Locks: none.
select name, body, version from {{calendar}}
where name in (select s.calendar from json_each(?) v cross join {{schedule}} s on s.id = v.value);

-- name: see_calendars
-- Nothing: advance_schedules does it.

-- name: change_calendars
-- Nothing: there is one writer.

-- name: lock_calendar
-- Tells which version of a calendar there is.
-- Inputs: name.  Output: its version, if it exists.  Locks: none; there is one writer.
select version from {{calendar}} where name = ?;

-- name: calendar_change
-- What a change of a calendar needs.
-- Inputs: none.  Output: a version that is larger than any there was, and the time.
-- Locks: none.
select {{new_calendar}}, {{now}};

-- name: add_calendar
-- Stores a new calendar.
-- Inputs: body, version, name.  Output: none.  Locks: the writer's.
insert into {{calendar}} (body, version, name) values (?, ?, ?);

-- name: calendar_user
-- Finds a living schedule that names a calendar.
-- Inputs: name.  Output: name of the schedule.  Locks: none.
select name from {{schedule}} where calendar = ? and deleted_at = 0 and calendar <> '' limit 1;

-- name: outdated_calendars
-- Finds out which calendars have living schedules that were computed with another
-- version. Each costs two look-ups.
-- Inputs: smallest version, limit.  Output: version, id of such a schedule or 0, name, in
-- the order of versions.  Locks: none.
select c.version, coalesce(
  (select s.id from {{schedule}} s where s.calendar = c.name and s.deleted_at = 0 and s.calendar <> '' and s.calendar_seen < c.version limit 1),
  (select s.id from {{schedule}} s where s.calendar = c.name and s.deleted_at = 0 and s.calendar <> '' and s.calendar_seen > c.version limit 1), 0), c.name
from {{calendar}} c
where c.version >= ?
order by c.version
limit 0 + ?;

-- name: outdated_schedules
-- Lists living schedules that were computed with another version of their calendar.
-- Inputs: name, version, limit.  Output: id.  Locks: none.
select id from {{schedule}} where calendar = ?1 and deleted_at = 0 and calendar <> '' and calendar_seen < ?2
union all
select id from {{schedule}} where calendar = ?1 and deleted_at = 0 and calendar <> '' and calendar_seen > ?2
limit 0 + ?3;
