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

// confidentialStore keeps which fields of jobs are confidential.
type confidentialStore struct {
	db    Database
	sql   *ConfidentialStatements
	known *knownConfidential
}

// knownConfidential is what was confidential when it was last read. However many fields there
// are, finding out that none has changed reads one row.
type knownConfidential struct {
	mu       sync.Mutex
	fields   fairlead.Confidential
	revision int64
	readAt   time.Time
}

// trustRevision bounds how long fields are kept: programs older than revisions change fields
// without changing the revision.
const trustRevision = 10 * time.Second

// at returns the fields of a revision, if they are known.
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

// ConfidentialStatements are those of a confidentialStore.
type ConfidentialStatements struct {
	Confidential      string `sql:"confidential"`
	AddConfidential   string `sql:"add_confidential"`
	ClearConfidential string `sql:"clear_confidential"`

	ConfidentialRevision string `sql:"confidential_revision"`
	ChangeConfidential   string `sql:"change_confidential"`
}

// AddConfidential makes fields confidential, in the order of their kinds: of nodes that
// start together each waits for the one before it. It writes nothing if all of them are
// confidential: workers declare the same whenever they join.
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

// missing returns the fields that are not known.
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

// newRevision returns a random number: one that counts would come twice if the database was
// restored from a backup in between.
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

// Confidential returns what is confidential. It reads the fields again only if they have
// changed.
func (s *confidentialStore) Confidential(ctx context.Context) (fairlead.Confidential, error) {
	revisions, err := readList(ctx, s.db.Read, "find the revision of confidential fields", func(scanner Scanner) (revision int64, err error) {
		err = scanner.Scan(&revision)
		return revision, err
	}, s.sql.ConfidentialRevision)
	if err != nil {
		return nil, err
	}
	var revision int64 // 0: nothing has changed since the table was made
	if len(revisions) > 0 {
		revision = revisions[0]
	}
	if fields, known := s.known.at(revision); known {
		return fields, nil
	}
	fields, err := s.readConfidential(ctx) // after the revision: what changes in between has another
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
