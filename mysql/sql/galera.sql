-- Statements that keep all processes at one member of a Galera cluster. They go by
-- the real clock, also in tests: members are real.

-- name: writer_table
-- Creates the row's table before there are others: migrations may run on one member
-- only. The migration that contains the table finds it.
-- Inputs: none.
-- Output: none.
-- Locks: the table's definition, on all members, for a moment.
create table if not exists {{writer}} (
  id tinyint not null primary key,
  member varbinary(600) not null,
  expires bigint not null
) engine = InnoDB;

-- name: writer_row
-- Creates the row that tells which member is written to.
-- Inputs: none.
-- Output: none.
-- Locks: the inserted row.
insert ignore into {{writer}} (id, member, expires) values (1, '', 0);

-- name: take_member
-- Says that processes write to the member that runs this, or go on to do so, unless
-- they write to another one. If two members do it at the same instant, certification
-- undoes one of them.
-- Inputs: none.
-- Output: none; no row is found if another member is written to.
-- Locks: the row.
update {{writer}} set member = {{member}}, expires = {{realtime}} + {{member_lease}}
where id = 1 and (member = {{member}} or expires <= {{realtime}});

-- name: member_taken
-- Tells which member is written to.
-- Inputs: none.
-- Output: member.
-- Locks: none.
select member from {{writer}} where id = 1;

-- name: member
-- Tells whether the server is a member of a Galera cluster, and which. Servers that
-- know nothing of Galera answer with fewer rows.
-- Inputs: none.
-- Output: name of a variable, its value.
-- Locks: none.
show global variables where variable_name in ('wsrep_on', 'wsrep_provider', 'wsrep_node_name', 'hostname', 'port');
