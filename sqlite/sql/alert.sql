-- Statements of alerts of jobs.

-- name: set_alert
-- Stores a rule, or replaces what is declared of the one of its name, unless that has another
-- scope. Its time of change grows, however fast changes follow each other.
-- Inputs: name, scope, body.  Output: none.  Locks: the writer's.
insert into {{alert}} (name, scope, created_at, updated_at, body, standing) values (?1, ?2, {{now}}, {{now}}, ?3, null)
on conflict (name) do update set updated_at = max(excluded.updated_at, updated_at + 1), body = excluded.body where scope = excluded.scope;

-- name: add_alert
-- Stores a rule, unless there is one of its name.
-- Inputs: name, scope, body.  Output: none; no row is hit if there is one.  Locks: the writer's.
insert into {{alert}} (name, scope, created_at, updated_at, body, standing) values (?1, ?2, {{now}}, {{now}}, ?3, null)
on conflict (name) do nothing;

-- name: begin_looks
-- Stores the row of looks, unless it is there.
-- Inputs: none.  Output: none.  Locks: the writer's.
insert into {{alert_look}} (id, version, looked_at, seen) values (1, 0, 0, 0) on conflict do nothing;

-- name: count_failures
-- Counts jobs that failed, by the index of ends.
-- Inputs: from a time, to another.
-- Output: lane, bucket, reason, how many.  Locks: none.
select lane, finished_at / {{alert_bucket}}, coalesce(reason, ''), count(*)
from {{done}} indexed by {{done_by_end}}
where outcome = 2 and finished_at >= ? and finished_at < ?
group by 1, 2, 3;

-- name: add_missed
-- Adds to what started too late in the present bucket. It runs for each lane.
-- Inputs: queue, tenant, kind, how many.  Output: none.  Locks: the writer's.
insert into {{missed_start}} (bucket, queue, tenant, kind, jobs) values ({{now}} / {{alert_bucket}}, ?1, ?2, ?3, ?4)
on conflict (bucket, queue, tenant, kind) do update set jobs = jobs + excluded.jobs;
