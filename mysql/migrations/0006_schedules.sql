-- Schedules, their runs, and calendars.

-- body is what is declared, as JSON. alive is 1, and null once the schedule is
-- deleted: names are unique among the living only. fire_at is 0 if it is not due
-- any more. next_fire is the same for those that are acted upon by themselves,
-- and null for others, so that its index has nothing else. The columns last_ are
-- the run with the newest instant that has ended and was not skipped; last_job is
-- 0 if there is none.
create table if not exists {{schedule}} (
  id bigint not null auto_increment primary key,
  name varbinary(200) not null,
  alive tinyint default 1,
  tenant varbinary(200) not null,
  calendar varbinary(200),
  enabled tinyint not null,
  body mediumblob not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  due bigint not null,
  fire_at bigint not null,
  next_fire bigint,
  last_job bigint not null default 0,
  last_due bigint not null default 0,
  last_trigger varbinary(16) not null default '',
  last_number int not null default 0,
  last_state varbinary(16) not null default '',
  last_ended_at bigint not null default 0,
  skipped tinyint not null default 0,
  unique key living (name, alive),
  key next_fire (next_fire),
  key tenant (tenant, name),
  key enabled (enabled, name),
  key calendar (calendar),
  key deleted_at (deleted_at)
) engine = InnoDB;

-- Runs. id is the job's. source is 0 for runs by the clock and to catch up, of
-- which an instant has one, else the job's id.
create table if not exists {{fire}} (
  id bigint not null primary key,
  schedule bigint not null,
  due bigint not null,
  source bigint not null,
  cause varbinary(16) not null,
  number int not null,
  skip varbinary(16) not null,
  unique key instant (schedule, due, source),
  key listing (schedule, id)
) engine = InnoDB;

-- Runs that had not ended when their schedule was last looked at. All that
-- decisions need is here: the run itself goes when its job is deleted.
create table if not exists {{open_fire}} (
  id bigint not null primary key,
  schedule bigint not null,
  due bigint not null,
  cause varbinary(16) not null,
  number int not null,
  key schedule (schedule)
) engine = InnoDB;

create table if not exists {{calendar}} (
  name varbinary(200) not null primary key,
  body mediumblob not null,
  version bigint not null
) engine = InnoDB;

-- calendar: grows with every change of a calendar.
insert ignore into {{counter}} (name, value) values ('calendar', 0);
