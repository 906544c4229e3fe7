package sqlite

import (
	"context"
	"strconv"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Audit adds entries to the audit log.
func (s *Store) Audit(ctx context.Context, entries []access.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	rows := auditRows(entries)
	_, err := inTx(ctx, s, "audit", func(t *txn) (none, error) { return none{}, t.audit(rows) })
	return err
}

// auditRows are entries as they are going to be stored.
func auditRows(entries []access.Entry) [][]any {
	rows := make([][]any, len(entries))
	for i, entry := range entries {
		e := sqlstore.CleanEntry(entry)
		rows[i] = []any{e.Actor, string(e.Role), e.From, e.Action, e.Subject, e.Tenant, text(e.Before), text(e.After), e.Error}
	}
	return rows
}

func (t *txn) audit(rows [][]any) error {
	first, err := t.next(auditCounter, int64(len(rows)))
	if err != nil {
		return err
	}
	for i, row := range rows {
		if err := t.must(1, t.sql.AddEntry, append([]any{first + int64(i), t.now}, row...)...); err != nil {
			return err
		}
	}
	return nil
}

// AuditLog returns the entries that match, newest first.
func (s *Store) AuditLog(ctx context.Context, filter access.Filter) ([]access.Entry, error) {
	return read(ctx, s, "read the audit log", func(t *txn) ([]access.Entry, error) {
		conditions, args, err := s.query.AuditConditions(ctx, t.ask, filter)
		if err != nil {
			return nil, err
		}
		var entries []access.Entry
		query := s.sql.AuditLog + " " + conditions + " order by id desc limit " + strconv.Itoa(filter.Page())
		err = t.each(query, args, func(row sqlstore.Scanner) error {
			entry, err := sqlstore.ScanEntry(row)
			entries = append(entries, entry)
			return err
		})
		return entries, err
	})
}
