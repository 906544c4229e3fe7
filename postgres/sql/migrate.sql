-- name: schema_exists
-- Whether the schema of the tables exists.
-- Inputs: $1 name.
-- Output: one row if so.
-- Locks: none.
select 1 from pg_namespace where nspname = $1::text;

-- name: create_schema
-- Creates the schema of the tables.
-- Locks: the new schema.
create schema {{schema}};

-- name: migrations_exist
-- Whether any migration was ever begun.
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

-- name: applied
-- How far migrations have been applied.
-- Output: version, number of applied statements.
-- Locks: none.
select version, count(*) from {{migration}} group by version;

-- name: record
-- Records an applied statement of a migration.
-- Inputs: $1 version, $2 step, $3 name.
-- Locks: the inserted row.
insert into {{migration}} (version, step, name, applied_at)
values ($1::int, $2::int, $3::text, (extract(epoch from clock_timestamp()) * 1000000)::bigint);

-- name: lock_migrations
-- Lets one process at a time migrate.
-- Inputs: $1 key of the lock.
-- Output: one row to be ignored.
-- Locks: the migrations.
select pg_advisory_xact_lock($1::bigint);
