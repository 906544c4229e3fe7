package hold_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
)

const (
	every = time.Second
	week  = 7 * 24 * time.Hour
)

// slowStore is a store on which looks take a time.
type slowStore struct {
	*sqlite.Store
	takes time.Duration
	looks []time.Time     // when they began
	early []time.Duration // how long before it was late each was stored
}

// HeldBack implements hold.Store.
func (s *slowStore) HeldBack(ctx context.Context, after hold.Place) (hold.Sight, error) {
	s.looks = append(s.looks, time.Now())
	sight, err := s.Store.HeldBack(ctx, after)
	select {
	case <-time.After(s.takes):
		return sight, err
	case <-ctx.Done():
		return hold.Sight{}, ctx.Err()
	}
}

// KeepHolds implements hold.Store.
func (s *slowStore) KeepHolds(ctx context.Context, found hold.Found) (bool, error) {
	if state, err := s.HoldLook(ctx); err == nil && state.Version != 0 {
		s.early = append(s.early, state.Due.Sub(state.Now))
	}
	return s.Store.KeepHolds(ctx, found)
}

// inVirtualTime runs a test with a store on which nothing waits.
func inVirtualTime(t *testing.T, test func(t *testing.T, store *sqlite.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := sqlitetest.OpenWith(t, sqlite.Options{Poll: -1})
		defer store.Close()
		test(t, store)
	})
}

// enqueue stores a job that no node runs.
func enqueue(t *testing.T, store *sqlite.Store) {
	t.Helper()
	if err := fairlead.NewClient(store).Enqueue(t.Context(), &fairlead.Job{Kind: "unheard"}); err != nil {
		t.Fatal(err)
	}
}

// watch performs the loop of a node for the given duration.
func watch(ctx context.Context, store *slowStore, duration time.Duration) {
	w := hold.NewWitness(store, every, week)
	for begun := time.Now(); time.Since(begun) < duration; time.Sleep(every) {
		_ = w.Look(ctx) // a node logs it
	}
}

func TestAWitnessRestsByWhatALookTookAndSaysSo(t *testing.T) {
	for _, c := range []struct{ takes, rests time.Duration }{
		{0, every},
		{30 * time.Millisecond, every},
		{200 * time.Millisecond, 4 * time.Second},
		{every, 20 * time.Second},
		{2 * time.Second, 40 * time.Second},
		{9 * time.Second, time.Minute},
		{time.Hour, time.Minute},
	} {
		for name, prepare := range map[string]func(*testing.T, *sqlite.Store){"a job waits": enqueue, "nothing waits": func(*testing.T, *sqlite.Store) {}} {
			t.Run(fmt.Sprintf("%v, %s", c.takes, name), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, store *sqlite.Store) {
					prepare(t, store)
					slow, took := &slowStore{Store: store, takes: c.takes}, min(c.takes, 10*time.Second)
					watch(t.Context(), slow, 15*(took+c.rests))
					if len(slow.looks) < 10 {
						t.Fatalf("it looked %d times", len(slow.looks))
					}
					for i, at := range slow.looks[1:] {
						if rest := at.Sub(slow.looks[i]) - took; rest < c.rests || rest >= c.rests+every {
							t.Fatalf("after look %d it rested %v, want %v", i, rest, c.rests)
						}
					}
					for _, early := range slow.early {
						if early <= every {
							t.Errorf("looks are stored so long before another node takes over: %v", slow.early)
							break
						}
					}
				})
			})
		}
	}
}

func TestAWitnessStoresASampleEveryTenSeconds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, store *sqlite.Store) {
		begun := time.Now()
		watch(t.Context(), &slowStore{Store: store, takes: 7 * time.Millisecond}, time.Hour)
		samples, err := hold.NewClient(store).Samples(t.Context(), begun, time.Now())
		if err != nil || len(samples) < 359 {
			t.Fatalf("%d samples of an hour: %v", len(samples), err)
		}
		for i, sample := range samples[1:] {
			if after := sample.At.Sub(samples[i].At); after != hold.SampleEvery {
				t.Fatalf("sample %d comes %v after the one before", i+1, after)
			}
		}
	})
}

func TestAnotherNodeWaitsUntilAWitnessThatRestsIsLate(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *sqlite.Store){"a job waits": enqueue, "nothing waits": func(*testing.T, *sqlite.Store) {}} {
		for _, takes := range []time.Duration{every, 9 * time.Second} {
			t.Run(fmt.Sprintf("%v, %s", takes, name), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, store *sqlite.Store) {
					const dies, ends = 5 * time.Minute, 8 * time.Minute
					prepare(t, store)
					witness, heir := &slowStore{Store: store, takes: takes}, &slowStore{Store: store, takes: takes}
					begun := time.Now()
					go watch(t.Context(), witness, dies)
					time.Sleep(every + takes)
					watch(t.Context(), heir, ends)
					if len(heir.looks) == 0 {
						t.Fatal("the other did not go on when the witness had died")
					}
					last := witness.looks[len(witness.looks)-1]
					if first := heir.looks[0]; first.Sub(begun) < dies || first.Sub(last) > 2*time.Minute {
						t.Errorf("the witness looked last at %v, the other first at %v", last.Sub(begun), first.Sub(begun))
					}
				})
			})
		}
	}
}

func TestWhatOneLookMissesIsOneHoldHoweverFarLooksAreApart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, store *sqlite.Store) {
		client := fairlead.NewClient(store)
		enqueue(t, store)
		slow := &slowStore{Store: store, takes: 2 * time.Second}
		go watch(t.Context(), slow, 10*time.Minute)
		for range 5 { // a look comes about every 42 seconds
			if err := client.PauseKind(t.Context(), "unheard"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(43 * time.Second)
			if err := client.ResumeKind(t.Context(), "unheard"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(43 * time.Second)
		}
		time.Sleep(5 * time.Minute)
		page, err := hold.NewClient(store).List(t.Context(), hold.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		pauses := 0
		for _, h := range page.Holds {
			if h.Code == fairlead.IsPaused {
				pauses++
			}
		}
		if pauses != 1 {
			t.Errorf("there are %d pauses: %+v", pauses, page.Holds)
		}
	})
}
