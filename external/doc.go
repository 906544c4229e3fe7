// Package external runs jobs in services of the tenants, and notifies tenants about the
// outcome of their jobs.
//
// A job of the kind "external" is sent to its tenant's start_url. After that it waits, and
// counts against its limits, until an answer arrives or its timeout expires. Tenants with a
// fail_url or a timeout_url get notices about jobs of any kind that fail for good or time
// out. Each notice is a job of the kind "notice", so that it is stored and retried like any
// other job.
//
// Batches with a notification URL report each completion in the same way, and sweeps with a
// gate call it before they run.
//
// All messages are signed with the tenant's own key, pass through the guard of package
// httpcall, and may be delivered more than once.
package external
