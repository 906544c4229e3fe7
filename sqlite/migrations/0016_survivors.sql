-- What tells processes that live from those that died: see docs/decisions/0021.

-- Whether the process said that it lives, though it lost its lease.
alter table {{node}} add column lived integer not null default 0;

-- Jobs that were taken back from a node with a crash counted, by the attempt that
-- was recorded. They are forgotten when the node says that it lived, and after an hour.
create table {{reaped}} (
  node integer not null,
  id   integer not null,
  run  integer not null,
  at   integer not null,
  primary key (node, id, run)
) without rowid;

create index {{reaped_by_age}} on {{reaped}} (at);
