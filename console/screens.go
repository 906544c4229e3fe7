package console

// screen is a page: its path, what it shows, and where the navigation stands.
type screen struct {
	name  string // of its templates: NAME and NAME-head
	path  string
	Title string
	Nav   string // the entry of the navigation that is marked
	load  func(*visit) (any, error)
}

// screens are all pages, in no particular order.
var screens = []screen{
	{"overview", "/{$}", "Overview", "overview", loadOverview},
	{"jobs", "/jobs", "Jobs", "jobs", loadJobs},
	{"job", "/jobs/{id}", "Job", "jobs", loadJob},
	{"failures", "/failures", "Failures", "failures", loadFailures},
	{"cause", "/failures/cause", "Failures of one cause", "failures", loadCause},
	{"runs", "/runs", "Runs", "runs", loadRuns},
	{"schedules", "/schedules", "Schedules", "schedules", loadSchedules},
	{"schedule", "/schedules/{id}", "Schedule", "schedules", loadSchedule},
	{"calendars", "/calendars", "Calendars", "calendars", loadCalendars},
	{"calendar", "/calendars/{name}", "Calendar", "calendars", loadCalendar},
	{"load", "/load", "Coming load", "load", loadComing},
	{"tenants", "/tenants", "Tenants and limits", "tenants", loadTenants},
	{"tenant", "/tenants/{name}", "Tenant", "tenants", loadTenant},
	{"queues", "/queues", "Queues", "queues", loadQueues},
	{"nodes", "/nodes", "Nodes", "nodes", loadNodes},
	{"audit", "/audit", "Audit", "audit", loadAudit},
	{"tokens", "/tokens", "Tokens", "tokens", loadTokens},
	{"batches", "/batches", "Batches", "batches", loadBatches},
	{"batch", "/batches/{id}", "Batch", "batches", loadBatch},
	{"batch-tasks", "/batches/{id}/tasks", "Tasks of a batch", "batches", loadBatchTasks},
	{"sweeps", "/sweeps", "Sweeps", "sweeps", loadSweeps},
	{"sweep", "/sweeps/{id}", "Sweep", "sweeps", loadSweep},
	{"sweep-failed", "/sweeps/{id}/failed", "Failed items of a sweep", "sweeps", loadSweepFailed},
	{"sweep-log", "/sweeps/{id}/log", "Log of a sweep", "sweeps", loadSweepLog},
	{"sweep-history", "/sweeps/{id}/history", "History of a sweep", "sweeps", loadSweepHistory},
}
