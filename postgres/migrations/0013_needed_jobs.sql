-- What keeps Prune and Delete from jobs that a batch, a schedule or a sweep has still
-- to see.

-- Finds the part that the id of a job lies in. The condition on first_job, which always
-- holds, keeps those from it who only know the batch.
create index on {{part}} (first_job) where any_out and first_job <> 0;

create index on {{shard}} (job) where job <> 0;

-- How a run ended whose job was deleted; empty if it was not, or by a process that is
-- older than this.
alter table {{open_fire}} add column state text collate "C" not null default '';
