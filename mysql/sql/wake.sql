-- Statements of wakes between processes. They use the real clock, even in tests,
-- because ports are real.

-- name: listeners
-- Lists the ports that listen.
-- Inputs: none.
-- Output: address, host.
-- Locks: none.
select address, host from {{listener}} where expires > {{realtime}};

-- name: register
-- Makes a port known, or keeps it known.
-- Inputs: address, host, time until it expires.
-- Output: none.
-- Locks: the row of the address.
replace into {{listener}} (address, host, expires) values (?, ?, {{realtime}} + ?);

-- name: forget_listeners
-- Deletes ports that have not been confirmed.
-- Inputs: none.
-- Output: none.
-- Locks: the deleted rows.
delete from {{listener}} where expires < {{realtime}};
