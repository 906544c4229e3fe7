-- Statements about tokens, the audit log, secrets, confidential fields, and requests that
-- count once.

-- name: add_entries
-- Adds an entry to the audit log. It runs for each.
-- Inputs: the columns but id and time.  Output: none.  Locks: the writer's.
insert into {{audit}} (id, at, actor, role, address, action, subject, tenant, was, became, error)
values ({{new_audit}}, {{now}}, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

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

-- name: add_secret
-- Keeps a new secret, unless there is one.
-- Inputs: name, value.  Output: none.  Locks: the writer's.
insert into {{secret}} (name, value) values (?, ?) on conflict do nothing;

-- name: added_secret
-- Reads the secret that is there after add_secret.
-- Inputs: name.  Output: its value.  Locks: none.
select value from {{secret}} where name = ?;

-- name: add_confidential
-- Makes a field of a kind confidential, unless it is.
-- Inputs: kind, field.  Output: none.  Locks: the writer's.
insert into {{confidential}} (kind, field) values (?, ?) on conflict do nothing;
