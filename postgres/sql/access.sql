-- name: add_token
-- Stores a token, unless its name or its hash is taken.
-- Inputs: $1 name, $2 role, $3 tenants, $4 kinds, $5 queues, $6 hash, $7 expires_at.
-- Output: none; no row is hit if it is taken.
-- Locks: the inserted row; waits for others who add the same.
insert into {{token}} (name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used)
values ($1::text, $2::text, $3::json, $4::json, $5::json, $6::bytea, {{now}}, $7::bigint, 0)
on conflict do nothing;

-- name: find_token
-- Finds a token by its hash.
-- Inputs: $1 hash.
-- Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= (select {{now}})
from {{token}}
where hash = $1::bytea;

-- name: tokens
-- All tokens, in order of id.
-- Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= (select {{now}})
from {{token}}
order by id;

-- name: delete_token
-- Removes a token.
-- Inputs: $1 id.
-- Output: none; no row is hit if it is unknown.
-- Locks: the deleted row.
delete from {{token}} where id = $1::bigint;

-- name: touch_token
-- Notes that a token is used, unless that was noted a moment ago: then nothing is
-- written.
-- Inputs: $1 id, $2 how many microseconds ago the last note must be.
-- Locks: the token, if it is written.
update {{token}} set last_used = {{now}} where id = $1::bigint and last_used <= {{now}} - $2::bigint;

-- name: add_entries
-- Adds to the audit log. Ids are given after the sort, so that they are in the
-- order of the entries.
-- Inputs, in step: $1 actors, $2 roles, $3 addresses, $4 actions, $5 subjects,
--   $6 tenants, $7 what was, $8 what became, $9 errors.
-- Locks: inserted rows.
insert into {{audit}} (at, actor, role, address, action, subject, tenant, was, became, error)
select (select {{now}}), actor, role, address, action, subject, tenant, was, became, error
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::json[], $8::json[], $9::text[])
    with ordinality as u (actor, role, address, action, subject, tenant, was, became, error, place)
order by place;

-- name: audit_log
-- Reads the audit log. The conditions are put behind it.
-- Output: the columns.
-- Locks: none.
select id, at, actor, role, address, action, subject, tenant, was, became, error from {{audit}};

-- name: answered
-- Finds a request that was answered not too long ago.
-- Inputs: $1 caller, $2 key.
-- Output: its hash, the ids of its jobs.
-- Locks: none.
select request, job_ids from {{once}}
where caller = $1::text and once_key = $2::text and created_at > (select {{now}}) - {{once_window}};

-- name: note_request
-- Notes a request and its answer, also in the place of one that counts no more.
-- Inputs: $1 caller, $2 key, $3 hash, $4 ids of its jobs.
-- Output: none; nothing is changed if it was answered before.
-- Locks: the row; waits for others who are about to answer the same.
insert into {{once}} as o (caller, once_key, request, job_ids, created_at)
select $1::text, $2::text, $3::bytea, $4::json, {{now}}
on conflict (caller, once_key) do update set
    request = excluded.request, job_ids = excluded.job_ids, created_at = excluded.created_at
    where o.created_at <= {{now}} - {{once_window}};

-- name: noted_request
-- Reads what was answered to a request. It follows note_request, whose snapshot cannot see
-- the answer that it has waited for.
-- Inputs: $1 caller, $2 key.
-- Output: its hash, the ids of its jobs.
-- Locks: none; the row is locked.
select request, job_ids from {{once}} where caller = $1::text and once_key = $2::text;

-- name: correct_request
-- Corrects which jobs are the answer to a request, in the same transaction.
-- Inputs: $1 ids of its jobs, $2 caller, $3 key.
-- Locks: the row, locked before.
update {{once}} set job_ids = $1::json where caller = $2::text and once_key = $3::text;

-- name: secret
-- Reads a secret.
-- Inputs: $1 name.
-- Output: its value.
-- Locks: none.
select value from {{secret}} where name = $1::text;

-- name: add_secret
-- Keeps a new secret, unless there is one.
-- Inputs: $1 name, $2 value.
-- Locks: the inserted row; waits for others who add the same.
insert into {{secret}} (name, value) values ($1::text, $2::bytea) on conflict do nothing;

-- name: added_secret
-- Reads the secret that is there after add_secret, whose snapshot cannot see that of
-- another process which was faster.
-- Inputs: $1 name.
-- Output: its value.
-- Locks: none.
select value from {{secret}} where name = $1::text;

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
-- Inputs: $1 revision.  Output: none.  Locks: its row, after those of the fields.
insert into {{confidential_change}} (id, revision) values (1, $1::bigint) on conflict (id) do update set revision = excluded.revision;

-- name: add_confidential
-- Makes a field of a kind confidential, unless it is.
-- Inputs: $1 kind, $2 field.
-- Locks: the inserted row; waits for others who add the same.
insert into {{confidential}} (kind, field) values ($1::text, $2::text) on conflict do nothing;

-- name: clear_confidential
-- Makes no field of a kind confidential.
-- Inputs: $1 kind.
-- Locks: the deleted rows.
delete from {{confidential}} where kind = $1::text;
