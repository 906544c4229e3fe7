// Package access is who may use the service, and what they did: tokens, their roles, and
// the audit log.
package access

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Auditor keeps an audit log.
type Auditor interface {
	// Audit adds entries to the audit log, as of now and in their order.
	Audit(ctx context.Context, entries []Entry) error
}

// Store keeps who may use the service, and what they did.
type Store interface {
	Auditor

	// AddToken stores a token and returns it with its ID and CreatedAt. The token
	// has been through Normalize. It fails with ErrConflict if another has
	// its name or its hash.
	AddToken(ctx context.Context, token Token) (Token, error)
	// FindToken returns the token with this hash, expired or not, or ErrNotFound.
	FindToken(ctx context.Context, hash [32]byte) (Token, error)
	// Tokens lists all tokens by ID.
	Tokens(ctx context.Context) ([]Token, error)
	// DeleteToken removes a token. It fails with ErrNotFound.
	DeleteToken(ctx context.Context, id int64) error
	// TouchToken notes that a token was used now. A token that is gone is fine.
	TouchToken(ctx context.Context, id int64) error

	// AuditLog returns the entries that match, newest (largest ID) first.
	// Entries are kept for Window.
	AuditLog(ctx context.Context, filter Filter) ([]Entry, error)
}

// Token lets a program or a person use the service.
type Token struct {
	ID        int64
	Name      string // unique, for people
	Role      Role
	Tenants   []string // bound to these; nil: it is not bound
	Kinds     []string // of a worker: the kinds of the jobs that it may run; nil: all
	Queues    []string // of a worker: the queues that it may serve; nil: all
	Hash      [32]byte // SHA-256 of its secret, which is kept nowhere
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	Expired   bool      // by the database's clock; set by the store
	LastUsed  time.Time // to the minute; zero: never
}

// Role is what the holder of a token may do.
type Role string

// The roles. Each of viewer, submitter, operator and admin may do what those
// before it may; a worker may run jobs and nothing else.
const (
	RoleViewer    Role = "viewer"    // look
	RoleSubmitter Role = "submitter" // enqueue, and act on single jobs
	RoleOperator  Role = "operator"  // act on many jobs, queues, limits, tenants and nodes
	RoleAdmin     Role = "admin"     // tokens and the audit log too
	RoleWorker    Role = "worker"
)

// May reports whether this role may do what another one is needed for.
func (r Role) May(needed Role) bool {
	rank := map[Role]int{RoleViewer: 1, RoleSubmitter: 2, RoleOperator: 3, RoleAdmin: 4}
	if needed == RoleWorker {
		return r == RoleWorker || r == RoleAdmin
	}
	return rank[needed] > 0 && rank[r] >= rank[needed]
}

const maxBinding = 100 // tenants, kinds or queues of a token

// Normalize returns an *InvalidError that names every field of a token about
// to be stored that cannot be accepted.
func Normalize(t *Token) error {
	var c complaints
	c.Name("name", t.Name, fairlead.MaxName)
	switch t.Role {
	case RoleViewer, RoleSubmitter, RoleOperator, RoleAdmin, RoleWorker:
	default:
		c.Refuse("role", "is %q; use viewer, submitter, operator, admin or worker", t.Role)
	}
	for _, binding := range []struct {
		field string
		names []string
		able  bool // whether tokens of the role can be bound so
	}{
		{"tenants", t.Tenants, t.Role != RoleAdmin},
		{"kinds", t.Kinds, t.Role == RoleWorker},
		{"queues", t.Queues, t.Role == RoleWorker},
	} {
		if len(binding.names) > maxBinding {
			c.Refuse(binding.field, "has %d entries; at most %d are allowed", len(binding.names), maxBinding)
		}
		for _, name := range binding.names {
			c.Name(binding.field, name, fairlead.MaxName)
		}
		if len(binding.names) > 0 && !binding.able {
			c.Refuse(binding.field, "does not apply to a token with the role %s; omit it or use another role", t.Role)
		}
	}
	return fairlead.Invalid(c.Found...)
}

// Entry is one action.
type Entry struct {
	ID      int64     // set by the store; grows
	At      time.Time // set by the store: the database's clock
	Actor   string    // name of the token, subject of an identity provider, or "local" where callers are not asked who they are
	Role    Role
	From    string          // network address
	Action  string          // method of the API, as "PauseQueue"
	Subject string          // what it was done to, as "queue:mail" or "job:17"
	Tenant  string          // of the subject; empty: none
	Before  json.RawMessage // what was there; nil: unknown or nothing
	After   json.RawMessage // what was asked for or is there now
	Error   string          // set if it is unknown whether it happened
}

// Window is how long entries of the audit log are kept.
const Window = 400 * 24 * time.Hour

// Filter chooses entries. Empty fields choose all.
type Filter struct {
	Actor   string
	Action  string
	Subject string
	From    time.Time // not earlier
	To      time.Time // earlier
	Below   int64     // only IDs smaller than this: the last ID of the page before
	Limit   int       // zero means 100
}

// Page is how many entries are asked for.
func (f Filter) Page() int {
	if f.Limit <= 0 {
		return fairlead.DefaultPage
	}
	return f.Limit
}
