-- What keeps Prune and Delete from jobs that a batch, a schedule or a sweep has still
-- to see.

-- Finds the part that the id of a job lies in.
alter table {{part}} add key beginning (any_out, first_job);

alter table {{shard}} add key job (job);

-- How a run ended whose job was deleted; empty if it was not, or by a process that is
-- older than this.
alter table {{open_fire}} add column state varbinary(16) not null default '';
