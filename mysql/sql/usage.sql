-- Statements of Usage and Report.

-- name: add_starts
-- Adds to what was started.
-- Inputs: rows of tenant, how many, how many of them too late; in order.
-- Output: none.
-- Locks: the rows.
insert into {{starts}} (bucket, tenant, started, missed) values {{rows}}({{now}} div {{starts_bucket}}, ?, ?, ?){{end}}
on duplicate key update started = started + values(started), missed = missed + values(missed);

-- name: old_starts
-- Finds what is too old to be asked for.
-- Inputs: bucket, at most so many.
-- Output: bucket, tenant.
-- Locks: those rows; passes over rows locked by others.
select bucket, tenant from {{starts}} where bucket < ? order by bucket, tenant limit ? for update skip locked;

-- name: forget_starts
-- Nothing: a delete cannot pass over rows that others have locked, and would lock more than
-- one bucket together with add_starts. See drop_starts.

-- name: drop_starts
-- Removes what was found.
-- Inputs: {{rows}} of bucket and tenant.
-- Output: none.
-- Locks: the rows.
delete from {{starts}} where (bucket, tenant) in ({{rows}});
