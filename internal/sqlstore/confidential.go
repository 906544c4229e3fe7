package sqlstore

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// confidentialStore stores the names of confidential job fields.
type confidentialStore struct {
	db    Database
	sql   *ConfidentialStatements
	known *knownConfidential
}

// knownConfidential caches the confidential fields last read. Whatever the number of
// fields, one row read is enough to see that none has changed.
type knownConfidential struct {
	mu       sync.Mutex
	fields   fairlead.Confidential
	revision int64
	readAt   time.Time
}

// trustRevision limits the age of cached fields, because programs older than revisions
// change fields without changing the revision.
const trustRevision = 10 * time.Second

// at returns the cached fields if they belong to the given revision.
func (k *knownConfidential) at(revision int64) (fairlead.Confidential, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	age := time.Since(k.readAt)
	return k.fields, k.fields != nil && k.revision == revision && age >= 0 && age < trustRevision
}

func (k *knownConfidential) keep(fields fairlead.Confidential, revision int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fields, k.revision, k.readAt = fields, revision, time.Now()
}

// ConfidentialStatements holds the SQL statements of confidentialStore.
type ConfidentialStatements struct {
	Confidential      string `sql:"confidential"`
	AddConfidential   string `sql:"add_confidential"`
	ClearConfidential string `sql:"clear_confidential"`

	ConfidentialRevision string `sql:"confidential_revision"`
	ChangeConfidential   string `sql:"change_confidential"`
}

// AddConfidential makes fields confidential. It locks them in the order of their kinds, so
// nodes that start at the same time wait for one another instead of deadlocking. It writes
// nothing if all fields are already confidential, because workers declare the same fields
// each time they join.
func (s *confidentialStore) AddConfidential(ctx context.Context, fields fairlead.Confidential) error {
	known, err := s.Confidential(ctx)
	if err != nil {
		return err
	}
	if fields = missing(fields, known); len(fields) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "add confidential fields", func(_ context.Context, db DB) error {
		for _, kind := range slices.Sorted(maps.Keys(fields)) {
			s.add(db, kind, fields[kind])
		}
		db.Queue(s.sql.ChangeConfidential, newRevision())
		return nil
	})
}

// missing returns the fields that are not in known.
func missing(fields, known fairlead.Confidential) fairlead.Confidential {
	left := fairlead.Confidential{}
	for kind, some := range fields {
		for _, field := range some {
			if !slices.Contains(known[kind], field) {
				left[kind] = append(left[kind], field)
			}
		}
	}
	return left
}

// newRevision returns a random number. A counter would repeat values after the database is
// restored from a backup.
func newRevision() int64 { return rand.Int64() }

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
		db.Queue(s.sql.ChangeConfidential, newRevision())
		return nil
	})
}

// Confidential returns the confidential fields. It reads them again only if they have
// changed.
func (s *confidentialStore) Confidential(ctx context.Context) (fairlead.Confidential, error) {
	revisions, err := readList(ctx, s.db.Read, "find the revision of confidential fields", func(scanner Scanner) (revision int64, err error) {
		err = scanner.Scan(&revision)
		return revision, err
	}, s.sql.ConfidentialRevision)
	if err != nil {
		return nil, err
	}
	var revision int64 // 0 if nothing has changed since the table was created
	if len(revisions) > 0 {
		revision = revisions[0]
	}
	if fields, known := s.known.at(revision); known {
		return fields, nil
	}
	fields, err := s.readConfidential(ctx) // read after the revision: a change in between has a different one
	if err != nil {
		return nil, err
	}
	s.known.keep(fields, revision)
	return fields, nil
}

func (s *confidentialStore) readConfidential(ctx context.Context) (fairlead.Confidential, error) {
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
