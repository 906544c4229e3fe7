-- Statements of the migrations. They run on a separate connection.

-- name: lock_migrations
-- Waits for the right to migrate.
-- Inputs: name of the lock, seconds to wait.
-- Output: 1 if the lock was taken.
-- Locks: the named lock, until the connection ends or gives it back.
select get_lock(?, ?);

-- name: migrations_holder
-- Finds the connection that holds the lock of the migrations.
-- Inputs: name of the lock.
-- Output: its id, or null if the lock is free; its user and host, or null if this user
-- may not see them.
-- Locks: none.
select u.id, p.user, p.host
from (select is_used_lock(?) as id) u
left join information_schema.processlist p on p.id = u.id;

-- name: unlock_migrations
-- Gives back the right to migrate.
-- Inputs: name of the lock.
-- Output: ignored.
-- Locks: none.
select release_lock(?);

-- name: script_session
-- Makes a script independent of the client's settings, as far as migrations and
-- their records depend on them.
-- Inputs: none.
-- Output: none.
-- Locks: none.
set session time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';

-- name: create_migrations
-- Creates the record of applied statements.
-- Inputs: none.
-- Output: none.
-- Locks: the table's definition, for a moment.
create table if not exists {{migration}} (
  version int not null,
  step int not null,
  name varbinary(200) not null,
  applied_at bigint not null,
  primary key (version, step)
) engine = InnoDB;

-- name: migrations_exist
-- Reports whether the record of applied statements exists.
-- Inputs: database, table.
-- Output: 1 or 0.
-- Locks: none.
select count(*) from information_schema.tables where table_schema = ? and table_name = ?;

-- name: migrations_applied
-- Counts the applied statements.
-- Inputs: none.
-- Output: version, number of statements.
-- Locks: none.
select version, count(*) from {{migration}} group by version;

-- name: record_migration
-- Records that a statement was applied.
-- Inputs: version, step, name.
-- Output: none.
-- Locks: the inserted row.
insert into {{migration}} (version, step, name, applied_at) values (?, ?, ?, {{realtime}})
on duplicate key update name = name;
