-- Common statements of the clock.

-- name: now
-- Reads the database's clock.
-- Inputs: none.
-- Output: microseconds.
-- Locks: none.
select {{now}};
