package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// pauseStore stores pauses.
type pauseStore struct {
	db      Database
	limits  LimitChanges
	sql     *PauseStatements
	tenants *TenantStatements
}

// PauseStatements holds the SQL statements of pauseStore.
type PauseStatements struct {
	Pause  string `sql:"pause"`
	Resume string `sql:"resume"`
	Pauses string `sql:"pauses"`
}

// Pause stops jobs of a queue, a kind or a tenant from being claimed. Each claim checks the
// pauses in its own transaction, so no such job is claimed after the commit of the pause.
func (s *pauseStore) Pause(ctx context.Context, pause fairlead.Pause) error {
	switch pause.Scope {
	case fairlead.PauseQueue, fairlead.PauseKind, fairlead.PauseTenant:
	default:
		message := fmt.Sprintf("is %q; it must be queue, kind or tenant", pause.Scope)
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "scope", Message: message}}}
	}
	return s.change(ctx, "pause", pause, true)
}

// Resume ends a pause.
func (s *pauseStore) Resume(ctx context.Context, pause fairlead.Pause) error {
	return s.change(ctx, "resume", pause, false)
}

func (s *pauseStore) change(ctx context.Context, verb string, pause fairlead.Pause, paused bool) error {
	return s.limits.ChangeLimits(MayWait(ctx), verb, func(_ context.Context, change LimitChange) error {
		s.sql.setPause(change, pause, paused)
		if pause.Scope == fairlead.PauseTenant { // a caller that has read the tenant before must not undo the pause
			change.Queue(s.tenants.TouchTenant, change.Version(), pause.Name)
		}
		return nil
	})
}

// setPause queues the statement that pauses or resumes, as part of a change of limits.
func (s *PauseStatements) setPause(db DB, pause fairlead.Pause, paused bool) {
	if !paused {
		db.Queue(s.Resume, string(pause.Scope), pause.Name)
		return
	}
	db.Queue(s.Pause, string(pause.Scope), pause.Name, cut(pause.Reason, fairlead.MaxReason))
}

// unexplained returns a pause without its reason. Two pauses of the same object are equal
// then.
func unexplained(pause fairlead.Pause) fairlead.Pause {
	return fairlead.Pause{Scope: pause.Scope, Name: pause.Name}
}

// Pauses lists all pauses.
func (s *pauseStore) Pauses(ctx context.Context) ([]fairlead.Pause, error) {
	return readList(ctx, s.db.ReadAll, "list pauses", ScanPause, s.sql.Pauses)
}

// ReadPauses lists all pauses in a transaction.
func ReadPauses(ctx context.Context, db DB, statements *PauseStatements) ([]fairlead.Pause, error) {
	return list(ctx, db, ScanPause, statements.Pauses)
}

// ScanPause reads a pause from the columns scope, name and reason.
func ScanPause(row Scanner) (pause fairlead.Pause, err error) {
	err = row.Scan(&pause.Scope, &pause.Name, &pause.Reason)
	return pause, err
}
