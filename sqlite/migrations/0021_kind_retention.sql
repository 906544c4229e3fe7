-- How long finished jobs of kinds are kept, if their handlers or an operator say so: in
-- microseconds, 0 as all others. Every node prunes by it, whether it knows the kind or not.
-- What no node has said for long is forgotten.
create table {{kind_retention}} (
  kind      text    not null primary key,
  succeeded integer not null,
  failed    integer not null,
  cancelled integer not null,
  skipped   integer not null,
  said_at   integer not null
) without rowid;
