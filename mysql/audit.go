package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Audit adds entries to the audit log.
func (s *Store) Audit(ctx context.Context, entries []access.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return s.inTx(ctx, "audit", func(ctx context.Context, t *txn) error { return t.audit(ctx, entries) })
}

func (t *txn) audit(ctx context.Context, entries []access.Entry) error {
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	var added tuples
	for _, entry := range entries {
		e := sqlstore.CleanEntry(entry)
		added.add().int(now).str(e.Actor).str(string(e.Role)).str(e.From).str(e.Action).str(e.Subject).str(e.Tenant).
			blob(e.Before).blob(e.After).str(e.Error).end()
	}
	return t.insert(ctx, t.sql.AddEntries, &added)
}

// AuditLog returns the entries that match, newest first.
func (s *Store) AuditLog(ctx context.Context, filter access.Filter) ([]access.Entry, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	conditions, args, err := s.query.AuditConditions(ctx, s.ask, filter)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	var entries []access.Entry
	err = each(ctx, s.db, func(row *sql.Rows) error {
		entry, err := sqlstore.ScanEntry(row)
		entries = append(entries, entry)
		return err
	}, s.sql.AuditLog+" force index ("+auditIndexes(filter)+") "+conditions+" order by id desc limit ?", append(args, filter.Page())...)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return entries, nil
}

// auditIndexes are those that find the entries of a filter. Left to itself, the server
// would walk through all newer entries of an actor to reach those below an id.
func auditIndexes(filter access.Filter) string {
	var indexes []string
	for index, value := range map[string]string{"actor": filter.Actor, "action": filter.Action, "subject": filter.Subject} {
		if value != "" {
			indexes = append(indexes, index)
		}
	}
	if len(indexes) == 0 {
		return "primary"
	}
	return strings.Join(indexes, ", ")
}
