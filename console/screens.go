package console

// screen is a page with its path, data and navigation entry.
type screen struct {
	name  string // name of its templates: NAME and NAME-head
	path  string
	Title string
	Nav   string // active navigation entry
	load  func(*visit) (any, error)
}

// screens lists all pages, in no particular order.
var screens = []screen{
	{"overview", "/{$}", "Overview", "overview", loadOverview},
	{"jobs", "/jobs", "Jobs", "jobs", loadJobs},
	{"job", "/jobs/{id}", "Job", "jobs", loadJob},
	{"failures", "/failures", "Failures", "failures", loadFailures},
	{"cause", "/failures/cause", "Failure cause", "failures", loadCause},
	{"runs", "/runs", "Runs", "runs", loadRuns},
	{"schedules", "/schedules", "Schedules", "schedules", loadSchedules},
	{"schedule", "/schedules/{id}", "Schedule", "schedules", loadSchedule},
	{"calendars", "/calendars", "Calendars", "calendars", loadCalendars},
	{"calendar", "/calendars/{name}", "Calendar", "calendars", loadCalendar},
	{"load", "/load", "Upcoming load", "load", loadComing},
	{"tenants", "/tenants", "Tenants and limits", "tenants", loadTenants},
	{"tenant", "/tenants/{name}", "Tenant", "tenants", loadTenant},
	{"queues", "/queues", "Queues", "queues", loadQueues},
	{"holds", "/holds", "Wait reasons", "holds", loadHolds},
	{"nodes", "/nodes", "Nodes", "nodes", loadNodes},
	{"node", "/nodes/{id}", "Node", "nodes", loadNode},
	{"audit", "/audit", "Audit log", "audit", loadAudit},
	{"tokens", "/tokens", "Tokens", "tokens", loadTokens},
	{"batches", "/batches", "Batches", "batches", loadBatches},
	{"batch", "/batches/{id}", "Batch", "batches", loadBatch},
	{"batch-tasks", "/batches/{id}/tasks", "Batch tasks", "batches", loadBatchTasks},
	{"bulks", "/bulks", "Bulk actions", "bulks", loadBulks},
	{"bulk", "/bulks/{id}", "Bulk action", "bulks", loadBulk},
	{"sweeps", "/sweeps", "Sweeps", "sweeps", loadSweeps},
	{"sweep", "/sweeps/{id}", "Sweep", "sweeps", loadSweep},
	{"sweep-failed", "/sweeps/{id}/failed", "Failed sweep items", "sweeps", loadSweepFailed},
	{"sweep-log", "/sweeps/{id}/log", "Sweep log", "sweeps", loadSweepLog},
	{"sweep-history", "/sweeps/{id}/history", "Sweep history", "sweeps", loadSweepHistory},
}
