-- Common statements of tokens, the audit log, secrets and confidential fields.

-- name: add_token
-- Stores a token, unless its name or its hash is taken.
-- Inputs: name, role, tenants, kinds, queues, hash, expires_at.
-- Output: none; no row if one of them is taken.
-- Locks: the inserted row; waits for transactions that add the same.
insert into {{token}} (id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used)
values ({{new_token}}, ?::text, ?::text, ?::json, ?::json, ?::json, ?::bytea, {{now}}, ?::bigint, 0)
on conflict do nothing;

-- name: find_token
-- Finds a token by its hash.
-- Inputs: hash.
-- Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= (select {{now}})
from {{token}}
where hash = ?::bytea;

-- name: tokens
-- Lists all tokens in order of id.
-- Inputs: none.
-- Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= (select {{now}})
from {{token}}
order by id;

-- name: delete_token
-- Removes a token.
-- Inputs: id.
-- Output: none; no row if it is unknown.
-- Locks: the row.
delete from {{token}} where id = ?::bigint;

-- name: touch_token
-- Records the use of a token, unless a recent use has been recorded.
-- Inputs: id, minimum age of the last recorded use in microseconds.
-- Output: none.
-- Locks: the row.
update {{token}} set last_used = {{now}} where id = ?::bigint and last_used <= {{now}} - ?::bigint;

-- name: audit_log
-- Reads the audit log. The caller appends the conditions.
-- Inputs: none.
-- Output: the columns.
-- Locks: none.
select id, at, actor, role, address, action, subject, tenant, was, became, error from {{audit}};

-- name: answered
-- Finds a request by its key, if it was answered recently.
-- Inputs: caller, key.
-- Output: its hash, the IDs of its jobs.
-- Locks: none.
select request, job_ids from {{once}}
where caller = ?::text and once_key = ?::text and created_at > (select {{now}}) - {{once_window}};

-- name: secret
-- Reads a secret.
-- Inputs: name.
-- Output: its value.
-- Locks: none.
select value from {{secret}} where name = ?::text;

-- name: confidential
-- Lists the confidential fields of all kinds.
-- Inputs: none.
-- Output: kind, field, in order.
-- Locks: none.
select kind, field from {{confidential}} order by kind, field;

-- name: confidential_revision
-- Reads the revision of the confidential fields.
-- Inputs: none.  Output: the revision; none if nothing was ever confidential.  Locks: none.
select revision from {{confidential_change}} where id = 1;

-- name: change_confidential
-- Sets the revision of the confidential fields.
-- Inputs: revision.  Output: none.  Locks: its row, after those of the fields.
insert into {{confidential_change}} (id, revision) values (1, ?::bigint) on conflict (id) do update set revision = excluded.revision;

-- name: clear_confidential
-- Makes no field of a kind confidential.
-- Inputs: kind.
-- Output: none.
-- Locks: the deleted rows.
delete from {{confidential}} where kind = ?::text;
