-- Common statements of alerts.

-- name: replace_alert
-- Replaces the declaration of a rule, unless it has changed since the caller read it.
-- Inputs: body, name, scope, updated_at as read.
-- Output: none; no row if it has changed.
-- Locks: the row; waits for transactions that set the same rule.
update {{alert}} set updated_at = greatest({{now}}, updated_at + 1), body = ?::json
where name = ?::text and scope = ?::text and updated_at = ?::bigint;

-- name: find_alert
-- Finds a rule by its name.
-- Inputs: name.
-- Output: the columns.
-- Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} where name = ?::text;

-- name: remove_alert
-- Removes a rule.
-- Inputs: name.
-- Output: none; no row if it is unknown.
-- Locks: the row.
delete from {{alert}} where name = ?::text;

-- name: alerts
-- Lists all rules in order of name.
-- Inputs: none.
-- Output: the columns.
-- Locks: none.
select name, scope, body, created_at, updated_at, standing from {{alert}} order by name;

-- name: look_needed
-- Reports whether there are rules or late starts. Without them, a check writes nothing.
-- Inputs: none.
-- Output: 0 or 1.
-- Locks: none.
select case when exists (select 1 from {{alert}}) or exists (select 1 from {{missed_start}}) then 1 else 0 end;

-- name: take_look
-- Starts a check, unless one has started recently or the last one asked for a pause, of at
-- most a minute. A later start means that the clock has been set back.
-- Inputs: minimum age of the last check in microseconds.
-- Output: none; no row if it is too early.
-- Locks: the row.
update {{alert_look}} set version = version + 1, looked_at = {{now}}
where id = 1 and (looked_at <= {{now}} - ?::bigint or looked_at > {{now}} + 60000000);

-- name: look
-- Reads the last check and the clock.
-- Inputs: none.
-- Output: version, seen, microseconds.
-- Locks: none.
select version, seen, {{now}} from {{alert_look}} where id = 1;

-- name: end_look
-- Ends a check, unless another has started since.
-- Inputs: end of the period that was checked, additional pause in microseconds, version.
-- Output: none; no row if there was another.
-- Locks: the row.
update {{alert_look}} set version = version + 1, seen = ?::bigint, looked_at = looked_at + ?::bigint where id = 1 and version = ?::bigint;

-- name: keep_standing
-- Stores the counts of a rule, unless it was removed.
-- Inputs: standing, name, created_at.
-- Output: none.
-- Locks: the row, after the row of checks.
update {{alert}} set standing = ?::json where name = ?::text and created_at = ?::bigint;

-- name: count_missed
-- Reads the counts of late starts.
-- Inputs: from a bucket, to another.
-- Output: bucket, queue, tenant, kind, number of jobs.
-- Locks: none.
select bucket, queue, tenant, kind, jobs from {{missed_start}} where bucket >= ?::bigint and bucket < ?::bigint;

-- name: forget_missed
-- Removes counts that are too old.
-- Inputs: bucket.
-- Output: none.
-- Locks: the removed rows, which nodes no longer change.
delete from {{missed_start}} /*! force index (primary) */ where bucket < ?::bigint;
