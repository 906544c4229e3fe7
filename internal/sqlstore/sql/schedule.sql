-- Common statements of calendars.

-- name: replace_calendar
-- Replaces a calendar.
-- Inputs: body, version, name, locked by lock_calendar.
-- Output: none.
-- Locks: the row.
update {{calendar}} set body = ?::json, version = ?::bigint where name = ?::text;

-- name: delete_calendar
-- Removes a calendar.
-- Inputs: name, locked by lock_calendar.
-- Output: none.
-- Locks: the row.
delete from {{calendar}} where name = ?::text;

-- name: calendars
-- Lists all calendars by name.
-- Inputs: none.
-- Output: the columns.
-- Locks: none.
select name, body, version from {{calendar}} order by name;
