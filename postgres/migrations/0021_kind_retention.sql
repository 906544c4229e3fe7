-- How long finished jobs of kinds are kept, if their handlers or an operator say so: in
-- microseconds, 0 as all others. Every node prunes by it, whether it knows the kind or not.
-- What no node has said for long is forgotten.
create table {{kind_retention}} (
    kind      text primary key,
    succeeded bigint not null,
    failed    bigint not null,
    cancelled bigint not null,
    skipped   bigint not null,
    said_at   bigint not null
);
