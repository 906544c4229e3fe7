-- Fields of jobs that are shown masked. They stay when no node handles the kind any more.
create table {{confidential}} (
  kind  text not null,
  field text not null,
  primary key (kind, field)
) without rowid;
