-- Sweeps, how far their shards have come, and what is told of their items.

insert into {{counter}} (name, value) values ('sweep', 0), ('sweep_log', 0), ('sweep_event', 0);

-- body is what people say of it, status how it stands, both as JSON.
create table {{sweep}} (
  id         integer primary key,
  name       text    not null unique,
  tenant     text    not null,
  state      text    not null,
  version    integer not null,
  created_at integer not null,
  body       text    not null,
  status     text    not null
);

-- Nodes look for those that run again and again.
create index {{sweep_by_state}} on {{sweep}} (state, id);

-- What whoever steers a sweep says of its shards. internal/sqlstore tells what becomes
-- of shares.
create table {{shard}} (
  sweep        integer not null,
  number       integer not null,
  job          integer not null default 0,
  share_rate   real    not null default 0,
  share_slots  integer not null default 0,
  share_number integer not null default 0,
  share_fence  integer not null default 0,
  peak_rate    real    not null default 0,
  peak_slots   integer not null default 0,
  primary key (sweep, number)
) without rowid;

-- What their runs say, about once a second.
create table {{shard_progress}} (
  sweep      integer not null,
  number     integer not null,
  from_index integer not null,
  to_index   integer not null,
  ended      integer not null,
  mark       integer not null,
  done       integer not null default 0,
  abandoned  integer not null default 0,
  errors     integer not null default 0,
  measured   real    not null default 0,
  used_rate  real    not null default 0,
  used_slots integer not null default 0,
  told       integer not null default 0,
  fence      integer not null default 0,
  saved_at   integer not null default 0,
  bits       blob,
  pending    text,
  source     text,
  primary key (sweep, number)
);

create table {{failed_item}} (
  sweep    integer not null,
  idx      integer not null,
  attempts integer not null,
  error    text    not null,
  at       integer not null,
  primary key (sweep, idx)
) without rowid;

create table {{sweep_log}} (
  id    integer primary key,
  sweep integer not null,
  idx   integer not null,
  level text    not null,
  text  text    not null,
  at    integer not null
);

create index {{sweep_log_by_sweep}} on {{sweep_log}} (sweep, id);

create index {{sweep_log_by_item}} on {{sweep_log}} (sweep, idx, id);

create table {{sweep_event}} (
  id     integer primary key,
  sweep  integer not null,
  at     integer not null,
  actor  text    not null,
  action text    not null,
  was    text    not null,
  became text    not null,
  note   text    not null
);

create index {{sweep_event_by_sweep}} on {{sweep_event}} (sweep, id);
