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

-- name: replace_alert
-- Replaces what is declared of a rule, unless it was changed since it was seen.
-- Inputs: body, name, scope, updated_at as it was seen.
-- Output: none; no row is hit if it was changed.
-- Locks: the row; waits for others who set the same.
update {{alert}} set updated_at = greatest({{now}}, updated_at + 1), body = ? where name = ? and scope = ? and updated_at = ?;

-- name: find_alert
-- Finds a rule by its name.
-- Inputs: name.
-- Output: the columns.
-- Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} where name = ?;

-- name: remove_alert
-- Removes a rule.
-- Inputs: name.
-- Output: none; no row is found if it is unknown.
-- Locks: the row.
delete from {{alert}} where name = ?;

-- name: alerts
-- Lists all limits in order of name.
-- Inputs: none.
-- Output: the columns.
-- Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} order by name;

-- name: look_needed
-- Reports whether there is anything to look at or to forget, so that nothing is written while
-- there is not.
-- Inputs: none.
-- Output: 0 or 1.
-- Locks: none.
select case when exists (select 1 from {{alert}}) or exists (select 1 from {{missed_start}}) then 1 else 0 end from dual;

-- name: begin_looks
-- Stores the row of looks, unless it is there.
-- Inputs: none.
-- Output: none.
-- Locks: the inserted row; none if it is there.
insert into {{alert_look}} (id, version, looked_at, seen)
select 1, 0, 0, 0 from dual where not exists (select 1 from {{alert_look}} where id = 1)
on duplicate key update id = 1;

-- name: take_look
-- Takes a look, unless one was taken a moment ago, or asked for a rest, which is a minute at
-- most. What was taken later than that was taken before the clock was set back.
-- Inputs: how many microseconds ago the last one must be.
-- Output: none.
-- Locks: the row.
update {{alert_look}} set version = version + 1, looked_at = {{now}}
where id = 1 and (looked_at <= {{now}} - ? or looked_at > {{now}} + 60000000);

-- name: look
-- Reads the last look and the clock.
-- Inputs: none.
-- Output: version, seen, microseconds.
-- Locks: none.
select version, seen, {{now}} from {{alert_look}} where id = 1;

-- name: end_look
-- Ends a look, unless another was taken since.
-- Inputs: what is seen, by how many microseconds the next look waits longer, version.
-- Output: none; no row is found if there was another.
-- Locks: the row.
update {{alert_look}} set version = version + 1, seen = ?, looked_at = looked_at + ? where id = 1 and version = ?;

-- name: keep_standing
-- Keeps what was counted for a rule, unless it was removed.
-- Inputs: standing, name, created_at.
-- Output: none.
-- Locks: the row, after that of looks.
update {{alert}} set standing = ? where name = ? and created_at = ?;

-- name: count_failures
-- Counts jobs that failed, by the key of ends.
-- Inputs: from a time, to another.
-- Output: lane, bucket, reason, how many.
-- Locks: none.
select lane, finished_at div {{alert_bucket}} as bucket, coalesce(reason, '') as why, count(*)
from {{done}} force index (age)
where outcome = 2 and finished_at >= ? and finished_at < ?
group by lane, bucket, why;

-- name: count_missed
-- Reads what started too late.
-- Inputs: from a bucket, to another.
-- Output: bucket, queue, tenant, kind, how many.
-- Locks: none.
select bucket, queue, tenant, kind, jobs from {{missed_start}} where bucket >= ? and bucket < ?;

-- name: add_missed
-- Adds to what started too late in the present bucket.
-- Inputs: rows of queue, tenant, kind, how many; in order.
-- Output: none.
-- Locks: the rows.
insert into {{missed_start}} (bucket, queue, tenant, kind, jobs) values {{rows}}({{now}} div {{alert_bucket}}, ?, ?, ?, ?){{end}}
on duplicate key update jobs = jobs + values(jobs);

-- name: forget_missed
-- Removes what is too old to be counted.
-- Inputs: bucket.
-- Output: none.
-- Locks: the removed rows, which no node adds to any more.
delete m from {{missed_start}} m force index (primary) where bucket < ?;
