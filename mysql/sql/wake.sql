-- Statements of wakes between processes. They go by the real clock, also in
-- tests: ports are real.

-- name: listeners
-- Lists the ports that hear.
-- Inputs: none.
-- Output: address, host.
-- Locks: none.
select address, host from {{listener}} where expires > {{realtime}};

-- name: register
-- Makes a port known, or keeps it known.
-- Inputs: address, host, time until it is forgotten.
-- Output: none.
-- Locks: the row of the address.
replace into {{listener}} (address, host, expires) values (?, ?, {{realtime}} + ?);

-- name: forget_listeners
-- Forgets ports that have not been confirmed.
-- Inputs: none.
-- Output: none.
-- Locks: the forgotten rows.
delete from {{listener}} where expires < {{realtime}};
