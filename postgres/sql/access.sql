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

-- name: add_confidential
-- Makes a field of a kind confidential, unless it is.
-- Inputs: $1 kind, $2 field.
-- Locks: the inserted row; waits for others who add the same.
insert into {{confidential}} (kind, field) values ($1::text, $2::text) on conflict do nothing;
