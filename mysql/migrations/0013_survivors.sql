-- What tells processes that live from those that died, and where they write.

-- The member of a Galera cluster that processes write to, and until when that holds
-- without a word from them; one row, unused elsewhere.
create table if not exists {{writer}} (
  id tinyint not null primary key,
  member varbinary(600) not null,
  expires bigint not null
) engine = InnoDB;

insert ignore into {{writer}} (id, member, expires) values (1, '', 0);
