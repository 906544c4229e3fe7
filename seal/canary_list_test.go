package seal_test

// Reasons why texts from callers stay readable.
const (
	name    = "names something: rows are found, sorted, counted or compared by it, in SQL or by another node"
	people  = "tells people what a thing is or why it is so; no handler, call or message gets it"
	failure = "texts of errors are compared to find those with the same cause; handlers write them for people"
	target  = "an address or a place that is shown to all who may look; user and password are refused in it"
	trace   = "IDs of a trace, which the tracing backend has too"
)

// unsealed lists the places where texts from callers stay readable: a column, and after a
// colon the path within its document.
var unsealed = map[string]string{
	"alert.name":                        name,
	"alert.standing:failed:groups:kind": name, "alert.standing:failed:groups:queue": name, "alert.standing:failed:groups:tenant": name,
	"alert.standing:failed:seen:groups:kind": name, "alert.standing:failed:seen:groups:queue": name, "alert.standing:failed:seen:groups:tenant": name,
	"attempt.error": failure,
	"audit.action":  name, "audit.actor": name, "audit.address": name, "audit.subject": name, "audit.tenant": name, "audit.error": failure,

	"batch.name": name, "batch.type": name, "batch.tenant": name,
	"batch.body:creator": name, "batch.body:env": name, "batch.body:az": name, "batch.body:service": name,
	"batch.body:description": people, "batch.status:Reason": people, "batch.body:then:trace": trace,
	"part_task.tasks:target:id": name, "part_task.tasks:target:name": name, "part_task.tasks:target:type": name, "part_task.tasks:target:env": name,

	"bulk.body:filter:key": name, "bulk.body:filter:kinds": name, "bulk.body:filter:queues": name, "bulk.body:filter:tenants": name,
	"bulk.body:actor": name, "bulk.body:from": name, "bulk.body:queue": name, "bulk.body:cause": failure,

	"calendar.name": name, "calendar.body:description": people,
	"confidential.kind": name, "confidential.field": name,
	"done.error": failure, "running.wish": failure, "failed_item.error": failure,
	"hold.gate": name, "hold.kind": name, "hold.queue": name, "hold.tenant": name,
	"job.job_key": name, "job.policy:concurrency_key": name, "jobkey.job_key": name, "job.trace": trace,
	"kind_retention.kind": name,
	"lane.kind":           name, "lane.queue": name, "lane.tenant": name,
	"missed_start.kind": name, "missed_start.queue": name, "missed_start.tenant": name,
	"node.name": name, "node.info:kinds": name, "node.info:tenants": name, "node.info:owner": name, "node.info:address": target, "node.info:version": people,
	"once.caller": name, "once.once_key": name,
	"pause.name": name, "pause.reason": people,
	"quota.name": name,

	"schedule.name": name, "schedule.tenant": name, "schedule.calendar": name, "schedule.body:calendar": name,
	"schedule.body:job:queue": name, "schedule.body:job:tenant": name, "schedule.body:job:concurrency_key": name, "schedule.body:job:trace": trace,
	"schedule.body:description": people, "schedule.body:reason": people,

	"secret.name":   name,
	"starts.tenant": name,

	"sweep.name": name, "sweep.tenant": name, "sweep.body:kind": name, "sweep.status:reason": people,
	"sweep.body:gate:before_create": target, "sweep.body:gate:before_run": target, "sweep.body:source:file": target, "sweep.body:source:url": target,
	"sweep.body:source:table:database": name, "sweep.body:source:table:name": name, "sweep.body:source:table:key": name, "sweep.body:source:table:columns": name,
	"sweep_event.action": name, "sweep_event.actor": name, "sweep_event.note": people,
	"sweep_log.text": failure,

	"tenant.name": name, "tenant.parent": name, "tenant.labels (a name)": name, "tenant.labels:*": name,
	"tenant.start_url": target, "tenant.fail_url": target, "tenant.timeout_url": target,
	"token.name": name, "token.tenants": name, "token.kinds": name, "token.queues": name,
}

// sealedEverywhere lists the canaries that no column may contain, although the column also
// contains readable texts.
var sealedEverywhere = map[string]string{
	canaryOf("bulk-reason"): "it becomes the error of jobs that the bulk cancels, and part of entries of the audit log",
}

// unfilled lists the tables that the test leaves empty, and why.
var unfilled = map[string]string{
	"fair_start":  "counts starts by the names of queues and tenants, if a queue is fair",
	"gate_news":   "IDs of gates",
	"holdset":     "IDs of jobs and numbers",
	"id_mark":     "IDs and times",
	"listener":    "addresses of processes",
	"quota_delta": "numbers",
	"reaped":      "IDs of jobs and nodes",
}
