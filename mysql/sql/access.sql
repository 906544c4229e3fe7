-- Statements about tokens, the audit log, secrets, confidential fields, and requests that
-- count once.

-- name: add_entries
-- Adds to the audit log. Ids are given in the order of the rows.
-- Inputs: rows of the columns but id and time.
-- Output: none.
-- Locks: inserted rows.
insert into {{audit}} (at, actor, role, address, action, subject, tenant, was, became, error) values {{rows}}({{now}}, ?, ?, ?, ?, ?, ?, ?, ?, ?){{end}};

-- name: note_request
-- Notes a request and its answer, also in the place of one that counts no more. What was
-- answered before is locked too, so that what noted_request says stays true. created_at
-- changes last: the assignments see what those before them have changed.
-- Inputs: caller, key, hash, ids of its jobs.
-- Output: none.
-- Locks: the row; waits for others who are about to answer the same.
insert into {{once}} (caller, once_key, request, job_ids, created_at) values (?, ?, ?, ?, {{now}})
on duplicate key update
  request = if(created_at <= values(created_at) - {{once_window}}, values(request), request),
  job_ids = if(created_at <= values(created_at) - {{once_window}}, values(job_ids), job_ids),
  created_at = if(created_at <= values(created_at) - {{once_window}}, values(created_at), created_at);

-- name: noted_request
-- Reads what was answered to a request: it follows note_request.
-- Inputs: caller, key.
-- Output: its hash, the ids of its jobs.
-- Locks: the row, locked before.
select request, job_ids from {{once}} force index (primary) where caller = ? and once_key = ? for update;

-- name: correct_request
-- Corrects which jobs are the answer to a request, in the same transaction.
-- Inputs: ids of its jobs, caller, key.
-- Output: none.
-- Locks: the row, locked before.
update {{once}} set job_ids = ? where caller = ? and once_key = ?;

-- name: add_secret
-- Keeps a new secret, unless there is one.
-- Inputs: name, value.
-- Output: none.
-- Locks: the row; waits for others who add the same.
insert into {{secret}} (name, value) values (?, ?) on duplicate key update name = name;

-- name: added_secret
-- Reads the secret that is there after add_secret. It may be that of another process
-- which was faster, whose commit a plain read need not see yet.
-- Inputs: name.
-- Output: its value.
-- Locks: the row.
select value from {{secret}} where name = ? lock in share mode;

-- name: add_confidential
-- Makes a field of a kind confidential, unless it is.
-- Inputs: kind, field.
-- Output: none.
-- Locks: the row; waits for others who add the same.
insert into {{confidential}} (kind, field) values (?, ?) on duplicate key update kind = kind;
