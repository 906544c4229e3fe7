-- Lanes that hold nothing for long are given up and removed: see LaneWalk in
-- internal/sqlstore.

-- When a lane was last seen to have a job, 0 until the first walk.
alter table {{lane}} add column seen_at bigint not null default 0;

-- The walk through all jobs; one row. retired_at is a time after lanes were last given up,
-- as the server tells the begin of its transactions; settled: none from before was open
-- when the walk began.
create table if not exists {{lane_walk}} (
  id tinyint not null primary key,
  begun_at bigint not null,
  after_job bigint not null,
  ended_at bigint not null,
  removed bigint not null,
  retired_at varbinary(32) not null,
  settled tinyint not null
) engine = InnoDB;

insert ignore into {{lane_walk}} (id, begun_at, after_job, ended_at, removed, retired_at, settled) values (1, 0, 0, 1, 0, '', 0);
