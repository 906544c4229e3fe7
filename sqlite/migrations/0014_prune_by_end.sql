-- What Prune looks for: the index is there since the first migration. It is new on
-- PostgreSQL alone.
create index if not exists {{done_by_end}} on {{done}} (outcome, finished_at);
