package mysql

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/storetest"
)

// TestGalera runs on a real cluster of two members, which takes a while to start: its
// parts share one.
func TestGalera(t *testing.T) {
	tier.Long(t, "starts clusters of servers")
	cluster := testdb.Galera(t, 2)
	world := &galeraWorld{T: t, members: cluster}
	t.Run("with two members", func(t *testing.T) {
		for name, test := range map[string]func(t *testing.T){
			"processes that open on both at once do not both get in":                   world.testOpenAtOnce,
			"a process that is led to the other member is refused until all are there": world.testFailover,
			"what the other member undoes is tried again":                              world.testCertification,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	})
	t.Run("a member that takes no queries is unavailable", world.testRefusing)
}

type galeraWorld struct {
	*testing.T
	members []*testdb.Server
}

// database makes a database, which all members have then, and returns its URLs.
func (w *galeraWorld) database(t *testing.T, name string) []string {
	t.Helper()
	w.exec(t, 0, "create database "+name)
	for member := range w.members {
		admin := w.admin(t, member)
		storetest.Eventually(t, "every member has the database", func() bool {
			_, err := admin.ExecContext(t.Context(), "use "+name)
			return err == nil
		})
	}
	var urls []string
	for _, member := range w.members {
		at, err := url.Parse(member.URL())
		if err != nil {
			t.Fatal(err)
		}
		at.Path = "/" + name
		urls = append(urls, at.String())
	}
	return urls
}

func (w *galeraWorld) exec(t *testing.T, member int, statement string) {
	t.Helper()
	admin := w.admin(t, member)
	if _, err := admin.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// admin is a handle past the store.
func (w *galeraWorld) admin(t *testing.T, member int) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", "root@tcp("+w.members[member].Addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (w *galeraWorld) testOpenAtOnce(t *testing.T) {
	urls := w.database(t, "at_once")
	stores, errs := make([]*Store, len(urls)), make([]error, len(urls))
	var all sync.WaitGroup
	for i, url := range urls {
		all.Go(func() { stores[i], errs[i] = Open(context.Background(), url) })
	}
	all.Wait()
	opened := 0
	for i, s := range stores {
		if s != nil {
			opened++
			defer s.Close()
			continue
		}
		var other *otherMemberError
		if !errors.As(errs[i], &other) || !errors.Is(errs[i], fairlead.ErrUnavailable) || !strings.Contains(errs[i].Error(), "point all processes at the same member") {
			t.Errorf("the process that did not get in is told %v", errs[i])
		}
	}
	if opened != 1 {
		t.Fatalf("%d processes opened on two members at once", opened)
	}
}

func (w *galeraWorld) testFailover(t *testing.T) {
	urls := w.database(t, "failover")
	steady := openHere(t, urls[0], Options{})
	relay := testdb.NewRelay(t, w.members[0].Addr())
	led := openHere(t, strings.Replace(urls[0], w.members[0].Addr(), relay.Addr(), 1), Options{})
	beat := func(s *Store) error {
		node, err := s.Join(t.Context(), fairlead.Node{}, time.Minute)
		if err == nil {
			_, err = s.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Minute})
		}
		return err
	}
	if err := errors.Join(beat(steady), beat(led)); err != nil {
		t.Fatal(err)
	}
	relay.Lead(w.members[1].Addr())
	var other *otherMemberError
	if err := beat(led); !errors.As(err, &other) || !strings.HasPrefix(other.Reached, "member2 ") || !strings.HasPrefix(other.InUse, "member1 ") {
		t.Fatalf("a process that was led to another member is told %v", err)
	}
	if err := beat(steady); err != nil {
		t.Fatal(err)
	}
	if err := steady.Close(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; {
		err := beat(led)
		if err == nil {
			break
		}
		if !errors.Is(err, fairlead.ErrUnavailable) || time.Since(begin) > patience.Limit {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond)
	}
	if err := beat(openHere(t, urls[1], Options{})); err != nil {
		t.Fatal(err)
	}
}

// testCertification changes the row of a node at another member again and again while
// the node beats.
func (w *galeraWorld) testCertification(t *testing.T) {
	s, node := openWithNode(t, w.database(t, "certification")[0])
	ctx, stop := context.WithCancel(t.Context())
	elsewhere := w.admin(t, 1)
	var other sync.WaitGroup
	other.Go(func() {
		for ctx.Err() == nil {
			_, _ = elsewhere.ExecContext(ctx, "update certification.fairlead_node set queued = queued + 1") // it is the one that may fail
		}
	})
	defer other.Wait()
	defer stop()
	undone := func() (count int) {
		for _, name := range []string{"wsrep_local_cert_failures", "wsrep_local_bf_aborts"} {
			var n int
			if err := w.admin(t, 0).QueryRowContext(t.Context(), "show global status like '"+name+"'").Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			count += n
		}
		return count
	}
	before := undone()
	for begin := time.Now(); undone() == before; {
		for range 20 {
			if _, err := s.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(begin) > patience.Limit {
			t.Fatal("the other member undid nothing")
		}
	}
}

func (w *galeraWorld) testRefusing(t *testing.T) {
	s, node := openWithNode(t, w.database(t, "refusing")[1])
	w.exec(t, 1, "set global wsrep_reject_queries = ALL")
	_, err := s.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Minute})
	if !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("a member that takes no queries is answered with %v", err)
	}
}
