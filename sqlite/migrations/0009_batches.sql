-- Batches, their parts, and the tasks of these.

insert into {{counter}} (name, value) values ('batch', 0);

-- body is what was declared, status how it stands, both as JSON; what is looked for
-- is kept in columns besides. open says that it is still to be acted upon: its tasks
-- are all stored, and it has not completed.
create table {{batch}} (
  id         integer primary key,
  name       text    not null,
  type       text    not null,
  queue      text    not null,
  tenant     text    not null,
  created_at integer not null,
  opened     integer not null,
  open       integer not null,
  ended_at   integer not null,
  state      text    not null,
  body       text    not null,
  status     text    not null
);

create index {{batch_open}} on {{batch}} (id) where open = 1;

create index {{batch_ended}} on {{batch}} (state, ended_at) where ended_at <> 0;

create index {{batch_unopened}} on {{batch}} (created_at) where opened = 0;

-- Some hundred tasks each. marks tells how each of them stands, as JSON. A part is
-- changed a few times; its tasks, which are larger, never.
create table {{part}} (
  batch  integer not null,
  number integer not null,
  pass   integer not null,
  kind   text    not null,
  first  integer not null,
  size   integer not null,
  held   integer not null,
  out    integer not null,
  marks  text    not null,
  primary key (batch, number)
);

-- Of the thousands of parts of a batch few are in use.
create index {{part_held}} on {{part}} (batch, number) where held > 0;

create index {{part_out}} on {{part}} (batch, number) where out > 0;

create table {{part_task}} (
  batch  integer not null,
  number integer not null,
  tasks  text    not null,
  primary key (batch, number)
);
