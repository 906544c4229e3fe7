-- Statements about tokens, the audit log, secrets, confidential fields, and requests that
-- count once.

-- name: add_token
-- Stores a token, unless its name or its hash is taken.
-- Inputs: name, role, tenants, kinds, queues, hash, expires_at.
-- Output: none.
-- Locks: the inserted row; waits for others who add the same.
insert {{unless_taken}} into {{token}} (name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used) values (?, ?, ?, ?, ?, ?, {{now}}, ?, 0);

-- name: find_token
-- Finds a token by its hash.
-- Inputs: hash.
-- Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= {{now}}
from {{token}}
where hash = ?;

-- name: tokens
-- Lists all tokens in order of id.
-- Inputs: none.
-- Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= {{now}}
from {{token}}
order by id;

-- name: delete_token
-- Removes a token.
-- Inputs: id.
-- Output: none; no row is found if it is unknown.
-- Locks: the row.
delete from {{token}} where id = ?;

-- name: touch_token
-- Notes that a token is used, unless that was noted a moment ago: then nothing is
-- written.
-- Inputs: id, how many microseconds ago the last note must be.
-- Output: none.
-- Locks: the row.
update {{token}} set last_used = {{now}} where id = ? and last_used <= {{now}} - ?;

-- name: add_entries
-- Adds to the audit log. Ids are given in the order of the rows.
-- Inputs: rows of the columns but id and time.
-- Output: none.
-- Locks: inserted rows.
insert into {{audit}} (at, actor, role, address, action, subject, tenant, was, became, error) values {{rows}}({{now}}, ?, ?, ?, ?, ?, ?, ?, ?, ?){{end}};

-- name: audit_log
-- Reads the audit log. The conditions are put behind it.
-- Inputs: none.
-- Output: the columns.
-- Locks: none.
select id, at, actor, role, address, action, subject, tenant, was, became, error from {{audit}};

-- name: answered
-- Finds a request that was answered not too long ago.
-- Inputs: caller, key.
-- Output: its hash, the ids of its jobs.
-- Locks: none.
select request, job_ids from {{once}} where caller = ? and once_key = ? and created_at > {{now}} - {{once_window}};

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

-- name: secret
-- Reads a secret.
-- Inputs: name.
-- Output: its value.
-- Locks: none.
select value from {{secret}} where name = ?;

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

-- name: confidential
-- Lists the confidential fields of all kinds.
-- Inputs: none.
-- Output: kind, field, in order.
-- Locks: none.
select kind, field from {{confidential}} order by kind, field;

-- name: confidential_revision
-- Reads which state the confidential fields are in.
-- Inputs: none.  Output: the revision; none if nothing was ever confidential.  Locks: none.
select revision from {{confidential_change}} where id = 1;

-- name: change_confidential
-- Notes that the confidential fields have changed.
-- Inputs: revision.  Output: none.  Locks: its row, after those of the fields.
insert into {{confidential_change}} (id, revision) values (1, ?) on duplicate key update revision = values(revision);

-- name: add_confidential
-- Makes a field of a kind confidential, unless it is.
-- Inputs: kind, field.
-- Output: none.
-- Locks: the row; waits for others who add the same.
insert into {{confidential}} (kind, field) values (?, ?) on duplicate key update kind = kind;

-- name: clear_confidential
-- Makes no field of a kind confidential.
-- Inputs: kind.
-- Output: none.
-- Locks: the deleted rows.
delete from {{confidential}} where kind = ?;
