-- name: schema_exists
-- Reports whether the schema of the tables exists.
-- Inputs: $1 name.
-- Output: one row if so.
-- Locks: none.
select 1 from pg_namespace where nspname = $1::text;

-- name: create_schema
-- Creates the schema of the tables.
-- Locks: the new schema.
create schema {{schema}};

-- name: migrations_exist
-- Reports whether any migration was ever begun.
-- Output: true or false.
-- Locks: none.
select to_regclass('{{migration}}') is not null;

-- name: create_migrations
-- Creates the record of applied migrations.
-- Locks: the new table.
create table if not exists {{migration}} (
    version    integer not null,
    step       integer not null,
    name       text not null,
    applied_at bigint not null,
    primary key (version, step)
);

-- name: migrations_applied
-- Reads how far migrations have been applied.
-- Output: version, number of applied statements.
-- Locks: none.
select version, count(*) from {{migration}} group by version;

-- name: record_migration
-- Records an applied statement of a migration.
-- Inputs: $1 version, $2 step, $3 name.
-- Locks: the inserted row.
insert into {{migration}} (version, step, name, applied_at)
values ($1::int, $2::int, $3::text, (extract(epoch from clock_timestamp()) * 1000000)::bigint);

-- name: lock_migrations
-- Allows one process at a time to migrate.
-- Inputs: $1 key of the lock.
-- Output: one row to be ignored.
-- Locks: the migrations.
select pg_advisory_xact_lock($1::bigint);

-- name: migrations_holder
-- Finds the session that holds the lock of the migrations.
-- Inputs: $1 key of the lock.
-- Output: process id, user, application and address of the client; no row if the lock
-- is free.
-- Locks: none.
select a.pid, coalesce(a.usename, '')::text, coalesce(a.application_name, ''), coalesce(host(a.client_addr), 'this machine')
from pg_locks l
join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.granted and l.objsubid = 1
  and l.database = (select oid from pg_database where datname = current_database())
  and (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint
limit 1;

-- name: find_index
-- Looks up an index.
-- Inputs: $1 schema, $2 name.
-- Output: whether it is valid, and whether it is being built; no row if there is none.
-- Locks: none.
select i.indisvalid, exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid)
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1::text and c.relname = $2::text;

-- name: drop_index
-- Removes an unfinished index. It runs outside of a transaction.
-- Locks: nothing that jobs need.
drop index concurrently if exists {{schema}}."{{index}}";

-- name: builds_index
-- Reports whether the server is building an index in this database.
-- Output: a row for each index.
-- Locks: none.
select 1 from pg_stat_progress_create_index where datname = current_database();

-- name: stay_idle
-- Allows the transaction that holds the migrations' lock to be idle while an index is
-- built.
-- Locks: none.
set local idle_in_transaction_session_timeout = 0;

-- name: take_your_time
-- Lifts the time limits of a session that only builds an index. It is never sent
-- through a pooler, where the session may serve another client next.
-- Locks: none.
set statement_timeout = 0; set lock_timeout = 0;
