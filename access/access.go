// Package access defines API tokens, their roles and the audit log.
package access

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// An Auditor writes an audit log.
type Auditor interface {
	// Audit appends entries to the audit log, in the given order. The store sets their time to
	// the current time.
	Audit(ctx context.Context, entries []Entry) error
}

// A Store stores API tokens and the audit log.
type Store interface {
	Auditor

	// AddToken stores a token and returns it with its ID and CreatedAt. The caller must have
	// passed the token to Normalize. AddToken returns ErrConflict if another token has the
	// same name or the same hash.
	AddToken(ctx context.Context, token Token) (Token, error)
	// FindToken returns the token with this hash, even if it has expired. It returns
	// ErrNotFound if there is no such token.
	FindToken(ctx context.Context, hash [32]byte) (Token, error)
	// Tokens returns all tokens, ordered by ID.
	Tokens(ctx context.Context) ([]Token, error)
	// DeleteToken deletes a token. It returns ErrNotFound if the token does not exist.
	DeleteToken(ctx context.Context, id int64) error
	// TouchToken records that a token was used now. It is not an error if the token has been
	// deleted.
	TouchToken(ctx context.Context, id int64) error

	// AuditLog returns the matching entries, newest (largest ID) first. Entries are deleted
	// once they are older than Window.
	AuditLog(ctx context.Context, filter Filter) ([]Entry, error)
}

// A Token authenticates a program or person to the service.
type Token struct {
	ID        int64
	Name      string // unique, human-readable
	Role      Role
	Tenants   []string // tenants that the token is restricted to; nil = unrestricted
	Kinds     []string // worker tokens only: kinds of jobs that the worker may run; nil = all
	Queues    []string // worker tokens only: queues that the worker may serve; nil = all
	Hash      [32]byte // SHA-256 of the secret; the secret itself is not stored
	CreatedAt time.Time
	ExpiresAt time.Time // zero = the token does not expire
	Expired   bool      // whether the token has expired by the database's clock; set by the store
	LastUsed  time.Time // rounded to the minute; zero = never used
}

// A Role determines which actions a token permits.
type Role string

// Roles of tokens. In the order viewer, submitter, operator, admin, each role includes the
// permissions of the roles before it. A worker may only run jobs.
const (
	RoleViewer    Role = "viewer"    // read only
	RoleSubmitter Role = "submitter" // enqueue jobs, and act on single jobs
	RoleOperator  Role = "operator"  // act on many jobs, and on queues, limits, tenants and nodes
	RoleAdmin     Role = "admin"     // also manage tokens and read the audit log
	RoleWorker    Role = "worker"
)

// May reports whether a token with this role has the permissions of the role needed.
func (r Role) May(needed Role) bool {
	rank := map[Role]int{RoleViewer: 1, RoleSubmitter: 2, RoleOperator: 3, RoleAdmin: 4}
	if needed == RoleWorker {
		return r == RoleWorker || r == RoleAdmin
	}
	return rank[needed] > 0 && rank[r] >= rank[needed]
}

const maxBinding = 100 // maximum number of tenants, kinds or queues that a token is restricted to

// Normalize validates a token before it is stored. It returns an *InvalidError that names
// every invalid field.
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
		able  bool // whether tokens of the role can be bound this way
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

// An Entry records one action in the audit log.
type Entry struct {
	ID      int64     // set by the store; later entries have larger IDs
	At      time.Time // set by the store from the database's clock
	Actor   string    // name of the token, subject from the identity provider, or "local" if the server does not authenticate callers
	Role    Role
	From    string          // network address
	Action  string          // API method, such as "PauseQueue"
	Subject string          // object of the action, such as "queue:mail" or "job:17"
	Tenant  string          // tenant of the subject, if any
	Before  json.RawMessage // state before the action; nil = unknown or nothing existed
	After   json.RawMessage // requested state, or state after the action
	Error   string          // set if it is unknown whether the action took effect
}

// Window is how long audit log entries are retained.
const Window = 400 * 24 * time.Hour

// A Filter selects audit log entries. An empty field matches every entry.
type Filter struct {
	Actor   string
	Action  string
	Subject string
	From    time.Time // inclusive
	To      time.Time // exclusive
	Below   int64     // only entries with smaller IDs: the last ID of the previous page
	Limit   int       // maximum number of entries; zero = 100
}

// Page returns the maximum number of entries per page.
func (f Filter) Page() int {
	if f.Limit <= 0 {
		return fairlead.DefaultPage
	}
	return f.Limit
}
