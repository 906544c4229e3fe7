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

-- name: replace_alert
-- Replaces what is declared of a rule, unless it was changed since it was seen.
-- Inputs: body, name, scope, updated_at as it was seen.  Output: none; no row is hit if it was changed.
-- Locks: the writer's.
update {{alert}} set updated_at = max({{now}}, updated_at + 1), body = ?1 where name = ?2 and scope = ?3 and updated_at = ?4;

-- name: find_alert
-- Finds a rule by its name.
-- Inputs: name.  Output: the columns.  Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} where name = ?;

-- name: remove_alert
-- Removes a rule.
-- Inputs: name.  Output: none.  Locks: the writer's.
delete from {{alert}} where name = ?;

-- name: alerts
-- Lists all limits.
-- Inputs: none.  Output: the columns, in order of name.  Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} order by name;

-- name: look_needed
-- Reports whether there is anything to look at or to forget, so that nothing is written while
-- there is not.
-- Inputs: none.  Output: 0 or 1.  Locks: none.
select case when exists (select 1 from {{alert}}) or exists (select 1 from {{missed_start}}) then 1 else 0 end;

-- name: begin_looks
-- Stores the row of looks, unless it is there.
-- Inputs: none.  Output: none.  Locks: the writer's.
insert into {{alert_look}} (id, version, looked_at, seen) values (1, 0, 0, 0) on conflict do nothing;

-- name: take_look
-- Takes a look, unless one was taken a moment ago, or asked for a rest, which is a minute at
-- most. What was taken later than that was taken before the clock was set back.
-- Inputs: how many microseconds ago the last one must be.  Output: none.  Locks: the writer's.
update {{alert_look}} set version = version + 1, looked_at = {{now}}
where id = 1 and (looked_at <= {{now}} - ?1 or looked_at > {{now}} + 60000000);

-- name: look
-- Reads the last look and the clock.
-- Inputs: none.  Output: version, seen, microseconds.  Locks: none.
select version, seen, {{now}} from {{alert_look}} where id = 1;

-- name: end_look
-- Ends a look, unless another was taken since.
-- Inputs: what is seen, by how many microseconds the next look waits longer, version.
-- Output: none; no row is hit if there was another.  Locks: the writer's.
update {{alert_look}} set version = version + 1, seen = ?1, looked_at = looked_at + ?2 where id = 1 and version = ?3;

-- name: keep_standing
-- Keeps what was counted for a rule, unless it was removed.
-- Inputs: standing, name, created_at.  Output: none.  Locks: the writer's.
update {{alert}} set standing = ?1 where name = ?2 and created_at = ?3;

-- name: count_failures
-- Counts jobs that failed, by the index of ends.
-- Inputs: from a time, to another.
-- Output: lane, bucket, reason, how many.  Locks: none.
select lane, finished_at / {{alert_bucket}}, coalesce(reason, ''), count(*)
from {{done}} indexed by {{done_by_end}}
where outcome = 2 and finished_at >= ? and finished_at < ?
group by 1, 2, 3;

-- name: count_missed
-- Reads what started too late.
-- Inputs: from a bucket, to another.
-- Output: bucket, queue, tenant, kind, how many.  Locks: none.
select bucket, queue, tenant, kind, jobs from {{missed_start}} where bucket >= ? and bucket < ?;

-- name: add_missed
-- Adds to what started too late in the present bucket. It runs for each lane.
-- Inputs: queue, tenant, kind, how many.  Output: none.  Locks: the writer's.
insert into {{missed_start}} (bucket, queue, tenant, kind, jobs) values ({{now}} / {{alert_bucket}}, ?1, ?2, ?3, ?4)
on conflict (bucket, queue, tenant, kind) do update set jobs = jobs + excluded.jobs;

-- name: forget_missed
-- Removes what is too old to be counted.
-- Inputs: bucket.  Output: none.  Locks: the writer's.
delete from {{missed_start}} where bucket < ?;
