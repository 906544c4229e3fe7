package postgres

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// tripsOf runs a function and returns the statements of each of its round trips.
func tripsOf(t *testing.T, f func(ctx context.Context, db sqlstore.DB) error) (trips [][]string, err error) {
	t.Helper()
	return tripsBetween(t, []call{{sql: "begin"}}, []call{{sql: "commit"}}, f)
}

// tripsBetween is tripsOf for a transaction that begins and ends with the given statements.
func tripsBetween(t *testing.T, begin, end []call, f func(ctx context.Context, db sqlstore.DB) error) (trips [][]string, err error) {
	t.Helper()
	send := func(name string) func(context.Context, ...call) error {
		return func(_ context.Context, calls ...call) error {
			trip := []string{name}
			for _, c := range calls {
				trip = append(trip, c.sql)
			}
			trips = append(trips, trip)
			return nil
		}
	}
	p := &pipeline{send: send("some"), sendAll: send("all"), begin: begin, end: end}
	return trips, p.do(t.Context(), f)
}

func TestStatementsThatAreOnlyQueuedTakeOneRoundTrip(t *testing.T) {
	trips, err := tripsOf(t, func(_ context.Context, db sqlstore.DB) error {
		db.Queue("a")
		db.QueueEach(nil, "b")
		return nil
	})
	if want := [][]string{{"all", "a", "b"}}; err != nil || !reflect.DeepEqual(trips, want) {
		t.Errorf("they took %q: %v", trips, err)
	}
}

func TestBeginTravelsWithTheFirstStatementAndCommitWithTheLast(t *testing.T) {
	trips, err := tripsOf(t, func(ctx context.Context, db sqlstore.DB) error {
		db.Queue("a")
		if _, err := db.Exec(ctx, "b"); err != nil {
			return err
		}
		db.Queue("c")
		return db.Each(ctx, nil, "d")
	})
	if want := [][]string{{"some", "begin", "a", "b"}, {"some", "c", "d"}, {"some", "commit"}}; err != nil || !reflect.DeepEqual(trips, want) {
		t.Errorf("they took %q: %v", trips, err)
	}
}

func TestAReadTakesNoRoundTripToEnd(t *testing.T) {
	trips, err := tripsBetween(t, nil, nil, func(ctx context.Context, db sqlstore.DB) error { return db.Each(ctx, nil, "a") })
	if want := [][]string{{"some", "a"}}; err != nil || !reflect.DeepEqual(trips, want) {
		t.Errorf("it took %q: %v", trips, err)
	}
}

func TestWhatIsQueuedBehindAnErrorIsNotSent(t *testing.T) {
	refused := errors.New("refused")
	trips, err := tripsOf(t, func(_ context.Context, db sqlstore.DB) error {
		db.Queue("a")
		return refused
	})
	if !errors.Is(err, refused) || len(trips) > 0 {
		t.Errorf("they took %q: %v", trips, err)
	}
}

func TestAFunctionThatOnlyReadsSendsNothingAfterItsLastStatement(t *testing.T) {
	trips := 0
	send := func(context.Context, ...call) error { trips++; return nil }
	err := (&pipeline{send: send, sendAll: send}).do(t.Context(), func(ctx context.Context, db sqlstore.DB) error {
		return db.Each(ctx, nil, "a")
	})
	if err != nil || trips != 1 {
		t.Errorf("it took %d round trips: %v", trips, err)
	}
}
