-- What becomes of a job whose wait fails, and how far sweeps have come.

-- Microseconds until its next run if no answer comes in time or the answer is a failure;
-- -1: either ends the job, as it did for those that wait already.
alter table {{waiting}} add column retry_after bigint not null default -1;

-- From the first item before the mark that waits for its next attempt up to the mark.
alter table {{shard_progress}} add column behind bigint not null default 0;

-- Lists that sweeps go over, some items in a row, by the index of its first. They are
-- written once.
create table if not exists {{sweep_item}} (
  sweep bigint not null,
  first bigint not null,
  items mediumblob not null,
  primary key (sweep, first)
) engine = InnoDB;
