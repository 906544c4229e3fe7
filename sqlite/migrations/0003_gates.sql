-- Gates: jobs with a concurrency key wait in parked until they have a place.

alter table {{job}} add column gate integer;

-- Places of each gate of a kind; 0: one.
alter table {{quota}} add column per_key integer not null default 0;

create table {{parked}} (
  gate     integer not null,
  turn     integer not null,
  start_by integer not null,
  id       integer not null,
  lane     integer not null,
  attempt  integer not null,
  failures integer not null,
  crashes  integer not null,
  primary key (gate, turn, start_by, id)
) without rowid;

-- For the pending jobs of a tenant and the busy gates of a kind.
create index {{parked_by_lane}} on {{parked}} (lane, gate);

-- Who has a place: from its admission until it ends, is deleted or put off.
create table {{admitted}} (
  gate integer not null,
  id   integer not null,
  primary key (gate, id)
) without rowid;
