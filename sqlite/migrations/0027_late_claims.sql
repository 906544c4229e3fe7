-- Nothing changes: on SQLite no claim commits after its node was marked dead, because a
-- claim checks its node in the transaction that leases the jobs, and there is one writer.
-- The other stores record which claims committed before.
select 0;
