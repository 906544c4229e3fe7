package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Audit adds entries to the audit log.
func (s *Store) Audit(ctx context.Context, entries []access.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := s.run(ctx, s.auditCall(entries)); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func (s *Store) auditCall(entries []access.Entry) call {
	const texts = 7
	columns := make([][]string, texts)
	before, after := make([]*string, len(entries)), make([]*string, len(entries))
	for i, entry := range entries {
		e := sqlstore.CleanEntry(entry)
		for column, text := range [texts]string{e.Actor, string(e.Role), e.From, e.Action, e.Subject, e.Tenant, e.Error} {
			columns[column] = append(columns[column], text)
		}
		before[i], after[i] = jsonText(e.Before), jsonText(e.After)
	}
	return call{sql: s.sql.AddEntries, args: []any{
		columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], before, after, columns[6],
	}}
}

// AuditLog returns the entries that match, newest first.
func (s *Store) AuditLog(ctx context.Context, filter access.Filter) ([]access.Entry, error) {
	conditions, args, err := s.query.AuditConditions(ctx, s.ask, filter)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	sql := fmt.Sprintf("%s %s order by id desc limit $%d::int", s.sql.AuditLog, conditions, len(args)+1)
	var entries []access.Entry
	err = s.runPlain(ctx, call{sql: sql, args: append(args, filter.Page()), restart: func() { entries = nil }, each: func(row sqlstore.Scanner) error {
		entry, err := sqlstore.ScanEntry(row)
		entries = append(entries, entry)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return entries, nil
}
