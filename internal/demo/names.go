package demo

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// The tenants.
const (
	acme    = "acme"
	globex  = "globex"
	initech = "initech"
)

// Tenants lists the names of the demo's tenants.
func Tenants() []string { return []string{acme, globex, initech} }

// The label of the demo's tenants, which distinguishes them from others of the same name.
const (
	label      = "demo"
	labelValue = "true"
)

// owns reports whether a tenant is one of the demo's.
func owns(t fairlead.Tenant) bool {
	return slices.Contains(Tenants(), t.Name) && t.Labels[label] == labelValue
}

// Other names. Kinds begin with "demo." so that no program that shares the database takes
// these jobs for its own.
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
	mainframeKind = "demo.mainframe" // which no node handles
	targetType    = "demo.host"
	batchType     = "upgrade"
	itemKind      = "demo.thumbnail"
)

// TargetAddress is the host and port that the demo's HTTP calls name. No resolver knows
// it: a node with the demo leads these calls to its own Target.
const TargetAddress = "sample-target.invalid:80"

// targetURL is the URL of a path of the Target.
func targetURL(path string) string { return fmt.Sprintf("http://sample-target.invalid%s", path) }
