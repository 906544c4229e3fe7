-- Statements of alerts of jobs.

-- name: set_alert
-- Stores a rule, or replaces what is declared of the one of its name, unless that has another
-- scope. Its time of change grows, however fast changes follow each other.
-- Inputs: $1 name, $2 scope, $3 body.
-- Locks: the row; waits for others who set the same.
insert into {{alert}} as a (name, scope, created_at, updated_at, body)
select $1::text, $2::text, clock.now, clock.now, $3::json from (select {{now}} as now) clock
on conflict (name) do update set updated_at = greatest(excluded.updated_at, a.updated_at + 1), body = excluded.body where a.scope = excluded.scope;

-- name: add_alert
-- Stores a rule, unless there is one of its name.
-- Inputs: $1 name, $2 scope, $3 body.
-- Output: none; no row is hit if there is one.
-- Locks: the row; waits for others who set the same.
insert into {{alert}} (name, scope, created_at, updated_at, body)
select $1::text, $2::text, clock.now, clock.now, $3::json from (select {{now}} as now) clock
on conflict (name) do nothing;

-- name: begin_looks
-- Stores the row of looks, unless it is there.
-- Locks: the inserted row; none if it is there.
insert into {{alert_look}} (id, version, looked_at, seen) values (1, 0, 0, 0) on conflict do nothing;

-- name: count_failures
-- Counts jobs that failed, by the index of ends.
-- Inputs: $1 from a time, $2 to another.
-- Output: lane, bucket, reason, how many.
-- Locks: none.
select lane, finished_at / {{alert_bucket}}, coalesce(reason, ''), count(*)
from {{done}}
where outcome = 2 and finished_at >= $1::bigint and finished_at < $2::bigint
group by 1, 2, 3;

-- name: add_missed
-- Adds to what started too late in the present bucket.
-- Inputs: in step $1 queues, $2 tenants, $3 kinds, $4 how many.
-- Locks: the rows, in order.
insert into {{missed_start}} as m (bucket, queue, tenant, kind, jobs)
select (select {{now}}) / {{alert_bucket}}, queue, tenant, kind, jobs
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as u (queue, tenant, kind, jobs)
order by queue, tenant, kind
on conflict (bucket, queue, tenant, kind) do update set jobs = m.jobs + excluded.jobs;
