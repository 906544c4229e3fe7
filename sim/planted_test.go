package sim_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// The harness as a whole finds bugs of a store: what the checker is told by
// real nodes is enough to convict.
func TestHarnessFindsPlantedBugs(t *testing.T) {
	t.Parallel()
	for _, planted := range []struct {
		bug  string
		rule sim.Rule
		jobs int
		long string // why it belongs to the second tier
	}{
		{hasty, sim.OneLiveLease, 2000, "no node reaps before a lease is over"},
		{forgetful, sim.NothingLost, 100, ""},
	} {
		t.Run(planted.bug, func(t *testing.T) {
			if planted.long != "" {
				tier.Long(t, planted.long)
			}
			// A node whose own beats fail, as on a busy machine, reaps no other.
			const most = 20
			for try := 1; ; try++ {
				verdict := playPlanted(t, planted.bug, planted.jobs)
				if slices.ContainsFunc(verdict.Violations, func(v sim.Violation) bool { return v.Rule == planted.rule }) {
					return
				}
				if try == most {
					t.Fatalf("not found; the violations are %v\n%v", verdict.Violations, verdict.Figures)
				}
			}
		})
	}
}

// playPlanted plays jobs on a store with a bug.
func playPlanted(t *testing.T, bug string, jobs int) sim.Verdict {
	t.Helper()
	record, err := sim.Run(t.Context(), sim.Scenario{
		URL: bug + "+sqlite://" + filepath.Join(t.TempDir(), "jobs.db"), Open: openPatient, Dir: newRunDir(t), Seed: 1, Jobs: jobs, Workers: 2,
		Node: quickNode, Plan: sim.Mixed, Disturb: sim.Replace, Every: time.Second, Logf: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sim.Check(record)
}

// The bugs, named in the URL of the store that is to have them.
const (
	hasty     = "hasty"     // declares living nodes dead
	forgetful = "forgetful" // acknowledges settlements that it did not make
)

// plant gives a store the bug that its URL names, if any.
func plant(ctx context.Context, url string) (driver.Store, error) {
	bug, url, _ := strings.Cut(url, "+")
	store, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	switch bug {
	case hasty:
		return newHasty(store, url)
	case twice, never, lingering:
		return &misfiringStore{Store: store, bug: bug}, nil
	case lagging:
		return &laggingStore{Store: store}, nil
	case faltering:
		return &falteringStore{Store: store}, nil
	default:
		return &forgetfulStore{store}, nil
	}
}

// hastyStore reaches into the database: only a node itself can leave.
type hastyStore struct {
	driver.Store
	db *sql.DB
}

func newHasty(store driver.Store, url string) (driver.Store, error) {
	_, path, _ := strings.Cut(url, "://")
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	return &hastyStore{store, db}, err
}

// Reap takes from all others, dead or not.
func (s *hastyStore) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	if _, err := s.db.ExecContext(ctx, "update fairlead_node set dead = 1 where id <> ?", int64(reap.By)); err != nil {
		return driver.Reaped{}, err
	}
	return s.Store.Reap(ctx, reap)
}

// Close closes both.
func (s *hastyStore) Close() error { return errors.Join(s.db.Close(), s.Store.Close()) }

type forgetfulStore struct{ driver.Store }

// Settle leaves out jobs whose number ends with 7 the first time they run.
func (s *forgetfulStore) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	settled := make([]fairlead.Settled, len(settlements)) // all as asked
	for i, x := range settlements {
		if x.ID%10 == 7 && x.Move == fairlead.Succeed {
			job, err := s.Get(ctx, x.ID)
			if err != nil {
				return nil, err
			}
			if job.Memo == nil {
				if err := s.Save(ctx, fairlead.Save{ID: x.ID, Fence: x.Fence, Memo: []byte(`"forgotten once"`)}); err != nil {
					return nil, err
				}
				continue
			}
		}
		answer, err := s.Store.Settle(ctx, settlements[i:i+1])
		if err != nil {
			return nil, err
		}
		settled[i] = answer[0]
	}
	return settled, nil
}
