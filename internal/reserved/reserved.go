// Package reserved knows the kinds of jobs that Fairlead makes in its own name. The root and
// the features share them without knowing each other.
package reserved

import "strings"

// Kinds that only Fairlead itself makes jobs of. They are sent in its name, signed with
// the key of a tenant.
const (
	Notice    = "notice"          // tells a tenant what became of a job
	Completed = "batch.completed" // reports that a batch has completed
	Gate      = "sweep.gate"      // asks whether a sweep may run
	Bulk      = "fairlead.bulk"   // acts upon all jobs that match a filter
)

// Start is the kind of jobs that start a sweep. Callers may make them.
const Start = "sweep.start"

// Shards begins the kinds of jobs that go over shards of sweeps.
const Shards = "sweep."

// Notices have a queue and a tenant of their own: they count against no limit of the
// tenant that gets them, and wait behind none of its jobs.
const (
	NoticeQueue  = "fairlead-notices"
	NoticeTenant = "fairlead-notices"
)

// Jobs that carry out bulks have a queue and a tenant of their own, for the same reason.
const (
	BulkQueue  = "fairlead-bulks"
	BulkTenant = "fairlead-bulks"
)

// IsShard reports whether jobs of a kind go over shards of sweeps.
func IsShard(kind string) bool {
	return strings.HasPrefix(kind, Shards) && kind != Gate && kind != Start
}

// Is reports whether only Fairlead itself makes jobs of a kind. The service refuses such
// jobs from callers and from remote workers; programs that use a client on their own store
// are trusted, as they can write there anyway.
func Is(kind string) bool {
	switch kind {
	case Notice, Completed, Gate, Bulk:
		return true
	}
	return IsShard(kind)
}

// IsNodes reports whether jobs of a kind are run by nodes alone: they act in the name of
// Fairlead for every tenant. A remote worker that leased them would read what is
// sent to tenants, and could keep it from them. Shards of sweeps are for workers too.
func IsNodes(kind string) bool {
	return kind == Start || Is(kind) && !IsShard(kind)
}
