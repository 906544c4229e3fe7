-- What kept jobs waiting.

-- Times in which a cause kept ready jobs of some lanes from starting: those that have all of
-- its names, of which an empty one is that of any. A hold that lasts ends in the far future.
create table {{hold}} (
    id       bigint primary key,
    from_at  bigint not null,
    until_at bigint not null,
    used     integer not null,
    cap      integer not null,
    code     text collate "C" not null,
    scope    text collate "C" not null,
    queue    text collate "C" not null,
    tenant   text collate "C" not null,
    kind     text collate "C" not null,
    gate     text collate "C" not null
);

create index on {{hold}} (until_at);

-- The last look at what waits: one row. What was before since_at is not known.
create table {{hold_look}} (
    version   bigint not null,
    looked_at bigint not null,
    due_at    bigint not null,
    since_at  bigint not null,
    last_id   bigint not null,
    id        smallint primary key
) with (fillfactor = 50);
