-- Fields of jobs that are shown masked. They stay when no node handles the kind any more.
create table if not exists {{confidential}} (
  kind varbinary(200) not null,
  field varbinary(200) not null,
  primary key (kind, field)
) engine = InnoDB;
