-- What the token of a worker is bound to: JSON arrays, null if it is not bound.
alter table {{token}} add column kinds text;

alter table {{token}} add column queues text;

-- At most one row, whose revision is another number after each change of what is confidential:
-- the fields are read again only then.
create table {{confidential_change}} (
  id       integer primary key,
  revision integer not null
);
