-- How many jobs of a tenant were started in some ten seconds, and how many of
-- them too late.
create table {{starts}} (
  bucket  integer not null,
  tenant  text not null,
  started integer not null,
  missed  integer not null,
  primary key (bucket, tenant)
) without rowid;
