-- Fields of jobs that are shown masked. They stay when no node handles the kind any more.
create table {{confidential}} (
    kind  text collate "C" not null,
    field text collate "C" not null,
    primary key (kind, field)
);
