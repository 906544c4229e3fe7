// Package external runs jobs in services of the tenants themselves, and tells
// tenants what became of their jobs.
//
// A job of the kind "external" is sent to its tenant's start_url. From then on
// it waits, and counts against its limits, until an answer for it comes or its
// timeout is over. Tenants with a fail_url or a timeout_url get notices of jobs
// that failed for good or timed out, whatever their kind; each notice is a job
// of the kind "notice", so that it is stored and tried again like any other.
//
// Batches that have an address to notify tell it of each completion in the same
// way, and sweeps with a gate ask theirs before they run.
//
// All of it is signed with the tenant's own key, goes through the guard of
// package httpcall, and may come more than once.
package external
