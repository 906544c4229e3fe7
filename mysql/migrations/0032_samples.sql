-- How much the cluster ran: one row for each ten seconds of the last day.
create table if not exists {{sample}} (
  bucket bigint not null primary key,
  started bigint not null,
  running bigint not null
) engine = InnoDB;
