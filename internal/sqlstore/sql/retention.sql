-- Common statements of the retention of kinds.

-- name: put_kind_retention
-- Stores the retention of finished jobs of a kind.
-- Inputs: kind; succeeded, failed, cancelled, skipped in microseconds.
-- Output: none.
-- Locks: the row.
insert into {{kind_retention}} (kind, succeeded, failed, cancelled, skipped, said_at)
values (?::text, ?::bigint, ?::bigint, ?::bigint, ?::bigint, (select {{now}}))
on conflict (kind) do update set succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
    skipped = excluded.skipped, said_at = excluded.said_at;

-- name: kind_retentions
-- Lists the retentions that are in effect.
-- Inputs: for how long it holds.
-- Output: kind; succeeded, failed, cancelled, skipped in microseconds.
-- Locks: none.
select kind, succeeded, failed, cancelled, skipped from {{kind_retention}} where said_at > (select {{now}}) - ?::bigint;
