// Package reserved defines the kinds of jobs that Fairlead creates in its own name. The
// root package and the feature packages share them without importing each other.
package reserved

import "strings"

// Kinds of jobs that only Fairlead itself creates. Their calls are sent in its name, signed
// with the key of a tenant.
const (
	Notice    = "notice"          // notifies a tenant of a job's result
	Completed = "batch.completed" // reports that a batch has completed
	Gate      = "sweep.gate"      // asks whether a sweep may run
	Bulk      = "fairlead.bulk"   // applies an action to all jobs that match a filter
)

// Start is the kind of the jobs that start a sweep. Callers may create them.
const Start = "sweep.start"

// Shards is the kind prefix of the jobs that process a sweep's shards.
const Shards = "sweep."

// Notices have their own queue and tenant: they count against no limit of the tenant that
// receives them, and do not wait behind its jobs.
const (
	NoticeQueue  = "fairlead-notices"
	NoticeTenant = "fairlead-notices"
)

// Jobs that execute bulks have their own queue and tenant for the same reason.
const (
	BulkQueue  = "fairlead-bulks"
	BulkTenant = "fairlead-bulks"
)

// IsShard reports whether jobs of the given kind process shards of sweeps.
func IsShard(kind string) bool {
	return strings.HasPrefix(kind, Shards) && kind != Gate && kind != Start
}

// Is reports whether only Fairlead itself may create jobs of the given kind. The service
// rejects these jobs when callers or remote workers create them. A program that uses a client
// on its own store is trusted, because it can write to the store anyway.
func Is(kind string) bool {
	switch kind {
	case Notice, Completed, Gate, Bulk:
		return true
	}
	return IsShard(kind)
}

// IsNodes reports whether only nodes may run jobs of the given kind. These jobs act in
// Fairlead's name for every tenant. A remote worker that leased one could read or withhold
// messages to tenants. Remote workers may run shards of sweeps.
func IsNodes(kind string) bool {
	return kind == Start || Is(kind) && !IsShard(kind)
}
