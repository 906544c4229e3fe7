-- Statements about tokens, the audit log, secrets, confidential fields, and requests that
-- count once.

-- name: add_token
-- Stores a token, unless its name or its hash is taken.
-- Inputs: name, role, tenants, kinds, queues, hash, expires_at.  Output: none.
-- Locks: the writer's.
insert into {{token}} (id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used) values ({{new_token}}, ?1, ?2, ?3, ?4, ?5, ?6, {{now}}, ?7, 0)
on conflict do nothing;

-- name: find_token
-- Finds a token by its hash.
-- Inputs: hash.  Output: the columns, and whether it has expired.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= {{now}} from {{token}} where hash = ?1;

-- name: tokens
-- Lists all tokens.
-- Inputs: none.  Output: the columns, and whether it has expired, in order of id.
-- Locks: none.
select id, name, role, tenants, kinds, queues, hash, created_at, expires_at, last_used, expires_at <> 0 and expires_at <= {{now}} from {{token}} order by id;

-- name: delete_token
-- Removes a token.
-- Inputs: id.  Output: none.  Locks: the writer's.
delete from {{token}} where id = ?;

-- name: touch_token
-- Notes that a token is used, unless that was noted a moment ago.
-- Inputs: id, how many microseconds ago the last note must be.  Output: none.
-- Locks: the writer's.
update {{token}} set last_used = {{now}} where id = ?1 and last_used <= {{now}} - ?2;

-- name: add_entries
-- Adds an entry to the audit log. It runs for each.
-- Inputs: the columns but id and time.  Output: none.  Locks: the writer's.
insert into {{audit}} (id, at, actor, role, address, action, subject, tenant, was, became, error)
values ({{new_audit}}, {{now}}, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: audit_log
-- Reads the audit log. The conditions are put behind it.
-- Inputs: none.  Output: the columns.  Locks: none.
select id, at, actor, role, address, action, subject, tenant, was, became, error from {{audit}};

-- name: answered
-- Finds a request that was answered not too long ago.
-- Inputs: caller, key.
-- Output: its hash, the ids of its jobs.  Locks: none.
select request, job_ids from {{once}} where caller = ?1 and once_key = ?2 and created_at > {{now}} - {{once_window}};

-- name: note_request
-- Notes a request and its answer, in the place of one that counts no more.
-- Inputs: caller, key, hash, ids of its jobs.  Output: none.  Locks: the writer's.
insert into {{once}} (caller, once_key, request, job_ids, created_at) values (?1, ?2, ?3, ?4, {{now}})
on conflict (caller, once_key) do update set
  request = excluded.request, job_ids = excluded.job_ids, created_at = excluded.created_at;

-- name: noted_request
-- Nothing: there is one writer, which finds by answered that a request is a repeated one.

-- name: correct_request
-- Nothing: a request is noted when its jobs are stored.

-- name: secret
-- Reads a secret.
-- Inputs: name.  Output: its value.  Locks: none.
select value from {{secret}} where name = ?;

-- name: add_secret
-- Keeps a new secret, unless there is one.
-- Inputs: name, value.  Output: none.  Locks: the writer's.
insert into {{secret}} (name, value) values (?, ?) on conflict do nothing;

-- name: added_secret
-- Reads the secret that is there after add_secret.
-- Inputs: name.  Output: its value.  Locks: none.
select value from {{secret}} where name = ?;

-- name: confidential
-- Lists the confidential fields of all kinds.
-- Inputs: none.  Output: kind, field, in order.  Locks: none.
select kind, field from {{confidential}} order by kind, field;

-- name: confidential_revision
-- Reads which state the confidential fields are in.
-- Inputs: none.  Output: the revision; none if nothing was ever confidential.  Locks: none.
select revision from {{confidential_change}} where id = 1;

-- name: change_confidential
-- Notes that the confidential fields have changed.
-- Inputs: revision.  Output: none.  Locks: the writer's.
insert into {{confidential_change}} (id, revision) values (1, ?) on conflict (id) do update set revision = excluded.revision;

-- name: add_confidential
-- Makes a field of a kind confidential, unless it is.
-- Inputs: kind, field.  Output: none.  Locks: the writer's.
insert into {{confidential}} (kind, field) values (?, ?) on conflict do nothing;

-- name: clear_confidential
-- Makes no field of a kind confidential.
-- Inputs: kind.  Output: none.  Locks: the writer's.
delete from {{confidential}} where kind = ?;
