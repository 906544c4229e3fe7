-- Statements of alerts of jobs.

-- name: set_alert
-- Stores a rule, or replaces what is declared of the one of its name, unless that has another
-- scope. Its time of change grows, however fast changes follow each other.
-- Inputs: name, scope, body.
-- Output: none.
-- Locks: the row; waits for others who set the same.
insert into {{alert}} (name, scope, created_at, updated_at, body, standing) values (?, ?, {{now}}, {{now}}, ?, null)
on duplicate key update
  updated_at = case when scope = values(scope) then greatest(values(updated_at), updated_at + 1) else updated_at end,
  body = case when scope = values(scope) then values(body) else body end;

-- name: add_alert
-- Stores a rule, unless there is one of its name.
-- Inputs: name, scope, body.
-- Output: none; no row is hit if there is one.
-- Locks: the row; waits for others who set the same.
insert {{unless_taken}} into {{alert}} (name, scope, created_at, updated_at, body, standing) values (?, ?, {{now}}, {{now}}, ?, null);

-- name: begin_looks
-- Stores the row of looks, unless it is there.
-- Inputs: none.
-- Output: none.
-- Locks: the inserted row; none if it is there.
insert into {{alert_look}} (id, version, looked_at, seen)
select 1, 0, 0, 0 from dual where not exists (select 1 from {{alert_look}} where id = 1)
on duplicate key update id = 1;

-- name: count_failures
-- Counts jobs that failed, by the key of ends.
-- Inputs: from a time, to another.
-- Output: lane, bucket, reason, how many.
-- Locks: none.
select lane, finished_at div {{alert_bucket}} as bucket, coalesce(reason, '') as why, count(*)
from {{done}} force index (age)
where outcome = 2 and finished_at >= ? and finished_at < ?
group by lane, bucket, why;

-- name: add_missed
-- Adds to what started too late in the present bucket.
-- Inputs: rows of queue, tenant, kind, how many; in order.
-- Output: none.
-- Locks: the rows.
insert into {{missed_start}} (bucket, queue, tenant, kind, jobs) values {{rows}}({{now}} div {{alert_bucket}}, ?, ?, ?, ?){{end}}
on duplicate key update jobs = jobs + values(jobs);
