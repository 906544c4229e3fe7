-- Gates: see GateOf in internal/sqlstore for how they are named. A gate has no
-- row of its own. Whoever may have made room at one, or has parked a job there,
-- leaves a row in gate_news in the same transaction; admission takes the news
-- away. So a process that dies in between leaves its task behind.

alter table {{job}} add column gate bigint;

-- Jobs that are due and have no place.
create table {{parked}} (
    gate     bigint not null,
    start_by bigint not null,
    id       bigint not null,
    lane     integer not null,
    attempt  integer not null,
    turn     smallint not null,
    failures smallint not null,
    crashes  smallint not null,
    primary key (gate, turn, start_by, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

-- Jobs that have a place.
create table {{admitted}} (
    gate bigint not null,
    id   bigint not null,
    primary key (gate, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

create table {{gate_news}} (
    gate bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);

create index on {{gate_news}} (gate);

-- How many jobs of a kind each of its gates admits; 0: one.
alter table {{quota}} add column per_key integer not null default 0;
