package demo

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// Tenants.
const (
	acme    = "acme"
	globex  = "globex"
	initech = "initech"
)

// Tenants returns the names of the demo's tenants.
func Tenants() []string { return []string{acme, globex, initech} }

// Label of the demo's tenants, which distinguishes them from others with the same name.
const (
	label      = "demo"
	labelValue = "true"
)

// owns reports whether a tenant belongs to the demo.
func owns(t fairlead.Tenant) bool {
	return slices.Contains(Tenants(), t.Name) && t.Labels[label] == labelValue
}

// Other names. Kinds have the prefix "demo." so that no other program on the database
// handles these jobs.
const (
	calendarName = "business-days"
	sweepName    = "globex-catalog-thumbnails"
	batchName    = "acme openssl upgrade"
	pausedQueue  = "globex-maintenance"

	invoiceKind   = "demo.invoice"
	importKind    = "demo.import"
	reportKind    = "demo.report"
	ledgerKind    = "demo.ledger"
	rolloutKind   = "demo.rollout"
	mainframeKind = "demo.mainframe" // not handled by any node
	targetType    = "demo.host"
	batchType     = "upgrade"
	itemKind      = "demo.thumbnail"
)

// TargetAddress is the host and port that the demo's HTTP calls use. No resolver knows the
// host: a node that runs the demo redirects these calls to its own Target.
const TargetAddress = "sample-target.invalid:80"

// targetURL returns the URL of a path of the Target.
func targetURL(path string) string { return fmt.Sprintf("http://sample-target.invalid%s", path) }
