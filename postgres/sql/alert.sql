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

-- name: replace_alert
-- Replaces what is declared of a rule, unless it was changed since it was seen.
-- Inputs: $1 body, $2 name, $3 scope, $4 updated_at as it was seen.
-- Output: none; no row is hit if it was changed.
-- Locks: the row; waits for others who set the same.
update {{alert}} set updated_at = greatest({{now}}, updated_at + 1), body = $1::json
where name = $2::text and scope = $3::text and updated_at = $4::bigint;

-- name: find_alert
-- Finds a rule by its name.
-- Inputs: $1 name.
-- Output: the columns.
-- Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} where name = $1::text;

-- name: remove_alert
-- Removes a rule.
-- Inputs: $1 name.
-- Output: none; no row is hit if it is unknown.
-- Locks: the deleted row.
delete from {{alert}} where name = $1::text;

-- name: alerts
-- All limits, in order of name.
-- Output: the columns.
-- Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} order by name;

-- name: look_needed
-- Reports whether there is anything to look at or to forget, so that nothing is written while
-- there is not.
-- Output: 0 or 1.
-- Locks: none.
select case when exists (select 1 from {{alert}}) or exists (select 1 from {{missed_start}}) then 1 else 0 end;

-- name: begin_looks
-- Stores the row of looks, unless it is there.
-- Locks: the inserted row; none if it is there.
insert into {{alert_look}} (id, version, looked_at, seen) values (1, 0, 0, 0) on conflict do nothing;

-- name: take_look
-- Takes a look, unless one was taken a moment ago, or asked for a rest, which is a minute at
-- most. What was taken later than that was taken before the clock was set back.
-- Inputs: $1 how many microseconds ago the last one must be.
-- Output: none; no row is hit if it is too early.
-- Locks: the row.
update {{alert_look}} set version = version + 1, looked_at = {{now}}
where id = 1 and (looked_at <= {{now}} - $1::bigint or looked_at > {{now}} + 60000000);

-- name: look
-- Reads the last look and the clock.
-- Output: version, seen, microseconds.
-- Locks: none.
select version, seen, {{now}} from {{alert_look}} where id = 1;

-- name: end_look
-- Ends a look, unless another was taken since.
-- Inputs: $1 what is seen, $2 by how many microseconds the next look waits longer, $3 version.
-- Output: none; no row is hit if there was another.
-- Locks: the row.
update {{alert_look}} set version = version + 1, seen = $1::bigint, looked_at = looked_at + $2::bigint where id = 1 and version = $3::bigint;

-- name: keep_standing
-- Keeps what was counted for a rule, unless it was removed.
-- Inputs: $1 standing, $2 name, $3 created_at.
-- Locks: the row, after that of looks.
update {{alert}} set standing = $1::json where name = $2::text and created_at = $3::bigint;

-- name: count_failures
-- Counts jobs that failed, by the index of ends.
-- Inputs: $1 from a time, $2 to another.
-- Output: lane, bucket, reason, how many.
-- Locks: none.
select lane, finished_at / {{alert_bucket}}, coalesce(reason, ''), count(*)
from {{done}}
where outcome = 2 and finished_at >= $1::bigint and finished_at < $2::bigint
group by 1, 2, 3;

-- name: count_missed
-- Reads what started too late.
-- Inputs: $1 from a bucket, $2 to another.
-- Output: bucket, queue, tenant, kind, how many.
-- Locks: none.
select bucket, queue, tenant, kind, jobs from {{missed_start}} where bucket >= $1::bigint and bucket < $2::bigint;

-- name: add_missed
-- Adds to what started too late in the present bucket.
-- Inputs: in step $1 queues, $2 tenants, $3 kinds, $4 how many.
-- Locks: the rows, in order.
insert into {{missed_start}} as m (bucket, queue, tenant, kind, jobs)
select (select {{now}}) / {{alert_bucket}}, queue, tenant, kind, jobs
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as u (queue, tenant, kind, jobs)
order by queue, tenant, kind
on conflict (bucket, queue, tenant, kind) do update set jobs = m.jobs + excluded.jobs;

-- name: forget_missed
-- Removes what is too old to be counted.
-- Inputs: $1 bucket.
-- Locks: the removed rows, which no node adds to any more.
delete from {{missed_start}} where bucket < $1::bigint;
