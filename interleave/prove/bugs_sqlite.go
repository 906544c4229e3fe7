package main

// sqliteBugs returns bugs in the store of SQLite, which the simulation uses.
func sqliteBugs() []bug {
	const sql = "sqlite/sql/"
	all := []bug{
		{
			Name: "A success does not compare its fence", Breaks: "A node that has lost its lease is refused.",
			File: sql + "settle.sql",
			Was: `select id from {{running}}
where id in (select value from json_each(?)) and fence = ?;

-- name: succeed
-- Ends many running jobs as succeeded; those under another fence are left out.
-- Inputs: now, ids as a JSON array, fence.  Output: none.  Locks: the writer's.
insert into {{done}} (id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at)
select id, lane, 1, fence, node, attempt, failures, crashes, started_at, ?
from {{running}}
where id in (select value from json_each(?)) and fence = ?;

-- name: stop_many
-- Takes many jobs out of running: the second half of succeed.
-- Inputs: ids as a JSON array, fence.  Output: none.  Locks: the writer's.
delete from {{running}}
where id in (select value from json_each(?)) and fence = ?;`,
			Is: `select id from {{running}}
where id in (select value from json_each(?)) and fence >= 0 * ?;

-- name: succeed
-- Ends many running jobs as succeeded; those under another fence are left out.
-- Inputs: now, ids as a JSON array, fence.  Output: none.  Locks: the writer's.
insert into {{done}} (id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at)
select id, lane, 1, fence, node, attempt, failures, crashes, started_at, ?
from {{running}}
where id in (select value from json_each(?)) and fence >= 0 * ?;

-- name: stop_many
-- Takes many jobs out of running: the second half of succeed.
-- Inputs: ids as a JSON array, fence.  Output: none.  Locks: the writer's.
delete from {{running}}
where id in (select value from json_each(?)) and fence >= 0 * ?;`,
			Pairs: []string{"orphaned: settle: succeed × take over"},
		},
		{
			Name: "The holder of a key is not found", Breaks: "A key belongs to at most one unfinished job.",
			File: sql + "enqueue.sql",
			Was: `select id from {{jobkey}} where tenant = ? and job_key = ?;

-- name: take_key
-- Gives a free key to a job.
-- Inputs: tenant, key, job id.  Output: none.  Locks: the writer's.
insert into {{jobkey}} (tenant, job_key, id) values (?, ?, ?);`,
			Is: `select id from {{jobkey}} where tenant = ? and job_key = ? and false;

-- name: take_key
-- Gives a free key to a job.
-- Inputs: tenant, key, job id.  Output: none.  Locks: the writer's.
insert or replace into {{jobkey}} (tenant, job_key, id) values (?, ?, ?);`,
			Pairs: []string{"ready with a key: enqueue, refuse a duplicate × enqueue, refuse a duplicate"},
		},
		{
			Name: "A deadline is not looked at again", Breaks: "An answer that arrives before the wait ends it.",
			File:  "sqlite/keep.go",
			Was:   "if !at.Overdue(held.Fence)",
			Is:    "if false",
			Pairs: []string{"overdue: cancel × expire"},
		},
	}
	for i := range all {
		all[i].Database = "sqlite"
	}
	return all
}
