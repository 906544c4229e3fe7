-- Schedules, their runs, and the calendars that they keep to.

insert into {{counter}} (name, value) values ('schedule', 0), ('calendar', 0);

-- body is what was declared and nobody looks for, as JSON. deleted_at is 0 while
-- the schedule lives, fire_at if it will not be due. What begins with last is
-- about the run with the newest instant of those that have ended; skipped tells
-- whether one was skipped since then.
create table {{schedule}} (
  id            integer primary key,
  name          text    not null,
  tenant        text    not null,
  calendar      text    not null,
  enabled       integer not null,
  body          text    not null,
  version       integer not null,
  created_at    integer not null,
  updated_at    integer not null,
  deleted_at    integer not null default 0,
  due           integer not null,
  fire_at       integer not null,
  last_job      integer not null default 0,
  last_due      integer not null default 0,
  last_made_by  text    not null default '',
  last_number   integer not null default 0,
  last_state    text    not null default '',
  last_ended_at integer not null default 0,
  skipped       integer not null default 0
);

create unique index {{schedule_by_name}} on {{schedule}} (name) where deleted_at = 0;

-- What a tick costs follows from what is due, not from what is stored.
create index {{schedule_by_fire}} on {{schedule}} (fire_at, id) where enabled = 1 and deleted_at = 0 and fire_at <> 0;

create index {{schedule_by_calendar}} on {{schedule}} (calendar) where deleted_at = 0 and calendar <> '';

create index {{schedule_deleted}} on {{schedule}} (deleted_at) where deleted_at <> 0;

-- Runs. source is 0 for those by the clock and to catch up, of which there is one
-- per instant; the job otherwise. A run is open until its schedule has been told
-- of its end; state and ended_at are what it was told.
create table {{fire}} (
  job      integer primary key,
  schedule integer not null,
  due      integer not null,
  source   integer not null,
  made_by  text    not null,
  number   integer not null,
  skip     text    not null,
  queued   integer not null,
  open     integer not null,
  state    text    not null,
  ended_at integer not null
);

create unique index {{fire_by_instant}} on {{fire}} (schedule, due, source);

create index {{fire_by_schedule}} on {{fire}} (schedule, job);

create index {{fire_open}} on {{fire}} (schedule, job) where open = 1;

create table {{calendar}} (
  name    text    not null primary key,
  body    text    not null,
  version integer not null
) without rowid;
