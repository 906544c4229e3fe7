-- The tables of jobs. internal/sqlstore describes them and their columns.
-- JSON is kept as text, so that people can read it and SQL can look into it.

-- Numbers that only grow, whatever is deleted: ids of jobs and nodes, fences.
-- work, later and cancel count the news that other processes want to hear of.
create table {{counter}} (
  name  text    not null primary key,
  value integer not null
) without rowid;

insert into {{counter}} (name, value) values ('job', 0), ('fence', 0), ('node', 0), ('work', 0), ('later', 0), ('cancel', 0);

create table {{lane}} (
  id     integer primary key,
  queue  text not null,
  tenant text not null,
  kind   text not null,
  unique (queue, tenant, kind)
);

create table {{job}} (
  id         integer primary key,
  lane       integer not null,
  turn       integer not null,
  start_by   integer not null,
  not_before integer not null,
  created_at integer not null,
  job_key    text,
  flags      integer not null,
  policy     text,
  trace      text,
  args       text
);

create index {{job_by_key}} on {{job}} (job_key) where job_key is not null;

create table {{later}} (
  id         integer primary key,
  lane       integer not null,
  not_before integer not null,
  attempt    integer not null,
  failures   integer not null,
  crashes    integer not null
);

create index {{later_by_due}} on {{later}} (not_before, id);

create table {{ready}} (
  lane     integer not null,
  solo     integer not null,
  turn     integer not null,
  start_by integer not null,
  id       integer not null,
  attempt  integer not null,
  failures integer not null,
  crashes  integer not null,
  primary key (lane, solo, turn, start_by, id)
) without rowid;

create index {{ready_suspects}} on {{ready}} (turn, start_by, id) where solo = 1;

create table {{running}} (
  id         integer primary key,
  fence      integer not null,
  node       integer not null,
  lane       integer not null,
  attempt    integer not null,
  failures   integer not null,
  crashes    integer not null,
  started_at integer not null,
  wish       text,
  answer     text
);

create index {{running_by_wish}} on {{running}} (node) where wish is not null;

create table {{waiting}} (
  id         integer primary key,
  fence      integer not null,
  node       integer not null,
  lane       integer not null,
  attempt    integer not null,
  failures   integer not null,
  crashes    integer not null,
  started_at integer not null,
  deadline   integer not null
);

create index {{waiting_by_deadline}} on {{waiting}} (deadline);

create table {{done}} (
  id          integer primary key,
  lane        integer not null,
  outcome     integer not null,
  reason      text,
  fence       integer not null,
  node        integer not null,
  attempt     integer not null,
  failures    integer not null,
  crashes     integer not null,
  started_at  integer not null,
  finished_at integer not null,
  output      text,
  error       text
);

create index {{done_by_end}} on {{done}} (outcome, finished_at);

create table {{attempt}} (
  id          integer not null,
  run         integer not null,
  fence       integer not null,
  node        integer not null,
  started_at  integer not null,
  finished_at integer not null,
  reason      text not null,
  error       text not null,
  primary key (id, run)
) without rowid;

create table {{memo}} (
  id       integer primary key,
  memo     text,
  progress text
);

create table {{jobkey}} (
  tenant  text    not null,
  job_key text    not null,
  id      integer not null,
  primary key (tenant, job_key)
) without rowid;

create index {{jobkey_by_id}} on {{jobkey}} (id);

create table {{node}} (
  id          integer primary key,
  name        text    not null,
  info        text    not null,
  idle        integer not null,
  queued      integer not null,
  joined_at   integer not null,
  last_beat   integer not null,
  lease_until integer not null,
  dead        integer not null
);

create table {{pause}} (
  scope text not null,
  name  text not null,
  primary key (scope, name)
) without rowid;
