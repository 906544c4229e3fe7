-- What people count: failed jobs of a queue, tenant or kind. Jobs that do not fail are not in it.
-- All lanes are positive: the condition keeps the index from queries that do not ask for lanes.
create index concurrently {{done_failed_index}} on {{done}} (lane) where outcome = 2 and lane > 0;
