-- psql runs this on the new database. One role owns the tables, the other uses them.
\set owner_password `cat /run/secrets/owner`
\set app_password `cat /run/secrets/app`

create role fairlead_owner login password :'owner_password';
create role fairlead_app login password :'app_password';

create schema fairlead authorization fairlead_owner;
alter role fairlead_owner in database :"DBNAME" set search_path = fairlead;
alter role fairlead_app in database :"DBNAME" set search_path = fairlead;
grant usage on schema fairlead to fairlead_app;
alter default privileges for role fairlead_owner in schema fairlead grant select, insert, update, delete on tables to fairlead_app;
alter default privileges for role fairlead_owner in schema fairlead grant usage, select, update on sequences to fairlead_app;
