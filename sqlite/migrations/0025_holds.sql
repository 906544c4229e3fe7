-- What kept jobs waiting.

-- Times in which a cause kept ready jobs of some lanes from starting: those that have all of
-- its names, of which an empty one is that of any. A hold that lasts ends in the far future.
create table {{hold}} (
  id       integer primary key,
  code     text    not null,
  scope    text    not null,
  queue    text    not null,
  tenant   text    not null,
  kind     text    not null,
  gate     text    not null,
  from_at  integer not null,
  until_at integer not null,
  used     integer not null,
  cap      integer not null
);

create index {{hold_by_end}} on {{hold}} (until_at);

-- The last look at what waits: one row. What was before since_at is not known.
create table {{hold_look}} (
  id        integer primary key,
  version   integer not null,
  looked_at integer not null,
  due_at    integer not null,
  since_at  integer not null,
  last_id   integer not null
);
