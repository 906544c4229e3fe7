-- How many jobs of a tenant were started in some ten seconds, and how many of
-- them too late.
create table if not exists {{starts}} (
  bucket bigint not null,
  tenant varbinary(200) not null,
  started bigint not null,
  missed bigint not null,
  primary key (bucket, tenant)
) engine = InnoDB;
