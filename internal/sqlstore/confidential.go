package sqlstore

import (
	"context"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// confidentialStore keeps which fields of jobs are confidential.
type confidentialStore struct {
	db  Database
	sql *ConfidentialStatements
}

// ConfidentialStatements are those of a confidentialStore.
type ConfidentialStatements struct {
	Confidential      string `sql:"confidential"`
	AddConfidential   string `sql:"add_confidential"`
	ClearConfidential string `sql:"clear_confidential"`
}

// AddConfidential makes fields confidential, in the order of their kinds: of nodes that
// start together each waits for the one before it.
func (s *confidentialStore) AddConfidential(ctx context.Context, fields fairlead.Confidential) error {
	if len(fields) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "add confidential fields", func(_ context.Context, db DB) error {
		for _, kind := range slices.Sorted(maps.Keys(fields)) {
			s.add(db, kind, fields[kind])
		}
		return nil
	})
}

func (s *confidentialStore) add(db DB, kind string, fields []string) {
	for _, field := range slices.Sorted(slices.Values(fields)) {
		db.Queue(s.sql.AddConfidential, kind, field)
	}
}

// SetConfidential replaces the confidential fields of a kind.
func (s *confidentialStore) SetConfidential(ctx context.Context, kind string, fields []string) error {
	return s.db.InTx(ctx, "set confidential fields", func(_ context.Context, db DB) error {
		db.Queue(s.sql.ClearConfidential, kind)
		s.add(db, kind, fields)
		return nil
	})
}

// Confidential returns what is confidential.
func (s *confidentialStore) Confidential(ctx context.Context) (fairlead.Confidential, error) {
	type row struct{ kind, field string }
	rows, err := readList(ctx, s.db.ReadAll, "list confidential fields", func(scanner Scanner) (r row, err error) {
		err = scanner.Scan(&r.kind, &r.field)
		return r, err
	}, s.sql.Confidential)
	if err != nil {
		return nil, err
	}
	all := fairlead.Confidential{}
	for _, r := range rows {
		all[r.kind] = append(all[r.kind], r.field)
	}
	return all, nil
}
