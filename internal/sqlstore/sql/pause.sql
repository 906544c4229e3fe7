-- Common statements of pauses.

-- name: pauses
-- Lists the pauses.
-- Inputs: none.
-- Output: scope, name, reason.
-- Locks: none.
select scope, name, reason from {{pause}} order by scope, name;

-- name: resume
-- Resumes a queue, kind or tenant.
-- Inputs: scope, name.
-- Output: none.
-- Locks: the row of pause.
delete from {{pause}} where scope = ?::text and name = ?::text;
