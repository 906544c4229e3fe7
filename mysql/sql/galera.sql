-- Statements that keep all processes at one member of a Galera cluster. They use the
-- real clock, even in tests, because members are real.

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
-- Creates the row that names the member in use.
-- Inputs: none.
-- Output: none.
-- Locks: the inserted row.
insert ignore into {{writer}} (id, member, expires) values (1, '', 0);

-- name: take_member
-- Records that processes write to the member that runs this, or continue to, unless
-- they write to another one. If two members do it at the same instant, certification
-- rolls one of them back.
-- Inputs: none.
-- Output: none; no row is found if another member is in use.
-- Locks: the row.
update {{writer}} set member = {{member}}, expires = {{realtime}} + {{member_lease}}
where id = 1 and (member = {{member}} or expires <= {{realtime}});

-- name: member_taken
-- Reads which member is in use.
-- Inputs: none.
-- Output: member.
-- Locks: none.
select member from {{writer}} where id = 1;

-- name: member
-- Reads whether the server is a member of a Galera cluster, and which. Servers without
-- Galera return fewer rows.
-- Inputs: none.
-- Output: name of a variable, its value.
-- Locks: none.
show global variables where variable_name in ('wsrep_on', 'wsrep_provider', 'wsrep_node_name', 'hostname', 'port');
