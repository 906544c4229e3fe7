-- name: add_schedule
-- Stores a new schedule, unless a living one has its name.
-- Inputs: $1 name, $2 tenant, $3 lane, $4 calendar, $5 body, $6 enabled, $7 due,
--   $8 fire_at, $9 calendar_seen, $10 when it was made, or 0.
-- Output: its id, if it was stored.
-- Locks: inserted rows; waits for transactions that store the same name.
with stored as (
    insert into {{schedule}} (version, created_at, updated_at, deleted_at, lane, name, tenant, calendar, body, calendar_seen)
    select 1, coalesce(nullif($10::bigint, 0), now), now, 0, $3::int, $1::text, $2::text, $4::text, $5::json, $9::bigint from (select {{now}} as now) clock
    on conflict (name) where deleted_at = 0 do nothing
    returning id
),
begun as (
    insert into {{cursor}} (schedule, due, fire_at, last_job, last_due, last_ended_at, last_number, enabled, skipped, last_trigger, last_state)
    select id, $7::bigint, $8::bigint, 0, 0, 0, 0, $6::bool, false, '', '' from stored
)
select id from stored;

-- name: lock_schedule
-- Lets no other transaction decide about a schedule.
-- Inputs: $1 the id, in an array.
-- Output: the id, if there is such a schedule, deleted or not.
-- Locks: its cursor; waits for a transaction that decides about it.
select schedule from {{cursor}} where schedule = any ($1::bigint[]) for update;

-- name: schedule_rows
-- Schedules as they stand. It is a statement of its own after those that lock
-- their cursors: its snapshot shows what was declared before.
-- Inputs: $1 ids.
-- Output: what ScanSchedule in internal/sqlstore reads.
-- Locks: none.
select s.id, s.name, k.enabled, s.body, s.version, s.created_at, s.updated_at, k.due, k.fire_at,
       k.last_job, k.last_due, k.last_trigger, k.last_number, k.last_state, k.last_ended_at, k.skipped, k.standing,
       s.calendar, s.calendar_seen, coalesce((select version from {{calendar}} where name = s.calendar), 0), s.deleted_at <> 0
from unnest($1::bigint[]) as a (id)
cross join lateral (select * from {{schedule}} where id = a.id offset 0) s
cross join lateral (select * from {{cursor}} where schedule = a.id offset 0) k;

-- name: replace_schedule
-- Replaces what is declared of a schedule.
-- Inputs: $1 to $9 as add_schedule, $10 id, locked by lock_schedule, $11 whether
--   the cursor is replaced too.
-- Locks: the schedule; waits for transactions that store the same name, and fails
--   if they do.
with changed as (
    update {{schedule}}
    set version = version + 1, updated_at = (select {{now}}), name = $1::text, tenant = $2::text, lane = $3::int, calendar = $4::text, body = $5::json,
        calendar_seen = case when $11::bool then $9::bigint else calendar_seen end
    where id = $10::bigint
)
update {{cursor}}
set enabled = $6::bool, due = case when $11::bool then $7::bigint else due end, fire_at = case when $11::bool then $8::bigint else fire_at end
where schedule = $10::bigint;

-- name: delete_schedule
-- Marks a schedule as deleted.
-- Inputs: $1 id, locked by lock_schedule and found to live.
-- Locks: the schedule.
with changed as (
    update {{schedule}} set deleted_at = (select {{now}}) where id = $1::bigint
)
update {{cursor}} set enabled = false where schedule = $1::bigint;

-- name: schedules
-- Lists living schedules by name, the soonest in the order in which they fire.
-- Inputs: $1 name to begin behind, $2 at most so many, $3 enabled or null for
--   both, $4 ids, $5 names, $6 tenants; null for all.
-- Output: as schedule_rows.
-- Locks: none.
select s.id, s.name, k.enabled, s.body, s.version, s.created_at, s.updated_at, k.due, k.fire_at,
       k.last_job, k.last_due, k.last_trigger, k.last_number, k.last_state, k.last_ended_at, k.skipped, k.standing,
       s.calendar, s.calendar_seen, coalesce((select version from {{calendar}} where name = s.calendar), 0), s.deleted_at <> 0
from ({{choice}}) a
cross join lateral (select * from {{schedule}} where id = a.id offset 0) s
cross join lateral (select * from {{cursor}} where schedule = a.id offset 0) k
order by {{order}}
limit $2::int;

-- name: schedules_by_id
-- A part of schedules: looks them up by id.
-- Locks: none.
select s.id
from unnest($4::bigint[]) as a (id)
cross join lateral (select id, name, tenant, deleted_at from {{schedule}} where id = a.id offset 0) s
where s.deleted_at = 0 and s.name > $1::text
  and ($5::text[] is null or s.name = any ($5::text[])) and ($6::text[] is null or s.tenant = any ($6::text[]))
  and ($3::bool is null or (select enabled from {{cursor}} where schedule = s.id) = $3::bool);

-- name: schedules_by_name
-- A part of schedules: looks them up by name.
-- Locks: none.
select s.id
from unnest($5::text[]) as a (name)
cross join lateral (select id, name, tenant from {{schedule}} where name = a.name and deleted_at = 0 offset 0) s
where $4::bigint[] is null and s.name > $1::text and ($6::text[] is null or s.tenant = any ($6::text[]))
  and ($3::bool is null or (select enabled from {{cursor}} where schedule = s.id) = $3::bool);

-- name: schedules_by_tenant
-- A part of schedules: those of tenants.
-- Locks: none.
select s.id from unnest($6::text[]) as t (tenant)
cross join lateral (
    select id from {{schedule}} s
    where $4::bigint[] is null and $5::text[] is null
      and s.tenant = t.tenant and (s.tenant, s.name) > (t.tenant, $1::text) and s.tenant <> '' and s.deleted_at = 0
      and ($3::bool is null or (select enabled from {{cursor}} where schedule = s.id) = $3::bool)
    order by s.tenant, s.name limit $2::int
) s;

-- name: schedules_of_all
-- A part of schedules: all of them.
-- Locks: none.
select s.id from {{schedule}} s
where $4::bigint[] is null and $5::text[] is null and $6::text[] is null and s.deleted_at = 0 and s.name > $1::text
  and ($3::bool is null or (select enabled from {{cursor}} where schedule = s.id) = $3::bool)
order by s.name limit $2::int;

-- name: schedules_soonest
-- A part of schedules: those that fire next. A deleted one is not enabled. The other
-- inputs are never given: they stand here because the server asks for their types.
-- Locks: none.
select schedule as id from {{cursor}}
where enabled and fire_at <> 0
  and $1::text = '' and $3::bool is not false and $4::bigint[] is null and $5::text[] is null and $6::text[] is null
order by fire_at, schedule limit $2::int;

-- name: prune_schedules
-- Forgets schedules that were deleted long ago and have no runs any more.
-- Inputs: $1 at most so many, $2 microseconds.
-- Locks: the deleted rows; passes over rows locked by others.
with gone as materialized (
    delete from {{schedule}}
    where ctid = any (array(
        select s.ctid from {{schedule}} s
        where s.deleted_at <> 0 and s.deleted_at < (select {{now}}) - $2::bigint
          and (select true from {{fire}} f where f.schedule = s.id limit 1) is null
        order by s.deleted_at limit $1::int for update skip locked))
    returning id
)
delete from {{cursor}} where schedule = any (array(select id from gone));

-- name: lock_calendar
-- Keeps a calendar from being deleted or made anew.
-- Inputs: $1 name.
-- Output: its version, if it exists.
-- Locks: the calendar.
select version from {{calendar}} where name = $1::text for update;

-- name: share_calendar
-- Keeps a calendar from being deleted.
-- Inputs: $1 name.
-- Output: its name, if it exists.
-- Locks: the calendar, shared.
select name from {{calendar}} where name = $1::text for key share;

-- name: change_calendars
-- Nothing: lock_calendar and the sequence of versions are enough.

-- name: calendar_change
-- What a change of a calendar needs. It follows lock_calendar.
-- Output: a version that is larger than any there was, and the time.
-- Locks: none.
select nextval('{{calendar_version}}'), {{now}};

-- name: add_calendar
-- Stores a new calendar, unless there is one of its name.
-- Inputs: $1 body, $2 version, $3 name.
-- Output: none; no row is hit if there is one.
-- Locks: the inserted row; waits for transactions that store the same name.
insert into {{calendar}} (name, version, body) values ($3::text, $2::bigint, $1::json) on conflict do nothing;

-- name: calendar_user
-- The first living schedule that names a calendar.
-- Inputs: $1 name.
-- Output: its name, if there is one.
-- Locks: none.
select name from {{schedule}} where calendar = $1::text and calendar <> '' and deleted_at = 0 limit 1;

-- name: outdated_calendars
-- Living schedules that were computed with another version of their calendar than
-- it has. Each calendar costs two look-ups while it has none. The order is that of
-- the index: without it a planner whose statistics are older than a change of the
-- calendar expects that all schedules match, and reads them one by one.
-- Inputs: $1 smallest version, $2 so many calendars, $3 at most so many schedules of
--   each.
-- Output: version, id of a schedule or 0, name, in the order of versions.
-- Locks: none.
select c.version, coalesce(s.id, 0), c.name
from (select name, version from {{calendar}} where version >= $1::bigint order by version limit $2::int) c
left join lateral (
    (select id from {{schedule}}
     where calendar = c.name and calendar <> '' and deleted_at = 0 and calendar_seen < c.version order by calendar, calendar_seen limit $3::int)
    union all
    (select id from {{schedule}}
     where calendar = c.name and calendar <> '' and deleted_at = 0 and calendar_seen > c.version order by calendar, calendar_seen limit $3::int)
) s on true
order by c.version
limit $2::int + $3::int;

-- name: outdated_schedules
-- Nothing: outdated_calendars finds all of them.

-- name: see_calendars
-- Notes with which versions of their calendars schedules were computed.
-- Inputs, in step: $1 ids, locked by lock_schedules or lock_due_schedules; $2 versions.
-- Locks: the schedules.
update {{schedule}} s set calendar_seen = a.version
from unnest($1::bigint[], $2::bigint[]) as a (id, version)
where s.id = any (array[a.id]);
