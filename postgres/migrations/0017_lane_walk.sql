-- Lanes that hold nothing for long are given up and removed: see LaneWalk in
-- internal/sqlstore.

-- When a lane was last seen to have a job or a schedule, 0 until the first walk.
alter table {{lane}} add column seen_at bigint not null default 0;

-- The walk through all jobs; one row. retired_by is the last transaction that gave up
-- lanes; settled: none from before it was open when the walk began.
create table {{lane_walk}} (
    id         smallint primary key,
    begun_at   bigint not null,
    after_job  bigint not null,
    ended_at   bigint not null,
    removed    bigint not null,
    retired_by bigint not null,
    settled    boolean not null
) with (fillfactor = 50);

insert into {{lane_walk}} (id, begun_at, after_job, ended_at, removed, retired_by, settled) values (1, 0, 0, 1, 0, 0, false);
