-- Which job ids were reserved when, for lists by creation time: see docs/decisions/0040.

-- All ids below id, and no others, were reserved at marked_at. Jobs with these ids were created
-- until latest, or a few minutes after it.
create table if not exists {{id_mark}} (
  id bigint not null primary key,
  marked_at bigint not null,
  latest bigint not null,
  key marked_at (marked_at, id),
  key latest (latest, id)
) engine = InnoDB;
