-- What lists and counts look for, so that what they read follows what they answer.

-- The pending jobs of a tenant, which are counted before more are stored.
create index concurrently {{later_by_lane_index}} on {{later}} (lane);

create index concurrently {{parked_by_lane_index}} on {{parked}} (lane);

-- The few errors among the lines of a sweep.
create index concurrently {{sweep_log_by_level_index}} on {{sweep_log}} (sweep, level, id);

-- The few failed items that wait to be tried again.
create index concurrently {{failed_item_again_index}} on {{failed_item}} (sweep, idx) where again;
