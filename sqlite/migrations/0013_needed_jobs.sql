-- What keeps Prune and Delete from jobs that a batch or a sweep has still to see.

-- Finds the part that the id of a job lies in.
create index {{part_by_first}} on {{part}} (first) where out > 0;

create index {{shard_by_job}} on {{shard}} (job) where job <> 0;
