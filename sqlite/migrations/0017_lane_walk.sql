-- Lanes that hold nothing for long are given up and removed: see LaneWalk in
-- internal/sqlstore.

-- When a lane was last seen to have a job, 0 until the first walk.
alter table {{lane}} add column seen_at integer not null default 0;

-- Counts how often lanes were given up, taken into use again or removed: what processes
-- know of them holds for one of these numbers.
insert into {{counter}} (name, value) values ('lanes', 0);

-- The walk through all jobs; one row.
create table {{lane_walk}} (
  id        integer primary key,
  begun_at  integer not null,
  after_job integer not null,
  ended_at  integer not null
);

insert into {{lane_walk}} (id, begun_at, after_job, ended_at) values (1, 0, 0, 1);
