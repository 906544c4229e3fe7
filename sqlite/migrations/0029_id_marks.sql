-- Which job ids were reserved when, for lists by creation time: see docs/decisions/0040.

-- All ids below id, and no others, were reserved at marked_at. Jobs with these ids were created
-- until latest, or a few minutes after it.
create table {{id_mark}} (
  id        integer primary key,
  marked_at integer not null,
  latest    integer not null
);
create index {{id_mark_at}} on {{id_mark}} (marked_at, id);
create index {{id_mark_latest}} on {{id_mark}} (latest, id);
