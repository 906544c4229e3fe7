package sqlstore

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestWhatIsQueuedRunsBeforeWhatIsNot(t *testing.T) {
	var ran []string
	refused := errors.New("refused")
	db := &InOrder{
		Run: func(_ context.Context, statement string, _ ...any) (int64, error) {
			ran = append(ran, statement)
			if statement == "refused" {
				return 0, refused
			}
			return int64(len(ran)), nil
		},
		Ask: func(_ context.Context, _ func(Scanner) error, statement string, _ ...any) error {
			ran = append(ran, statement)
			return nil
		},
	}
	first := db.Queue("first")
	db.QueueEach(nil, "second")
	if len(ran) > 0 {
		t.Errorf("%v ran though they were queued", ran)
	}
	hit, err := db.Exec(t.Context(), "third")
	if err != nil || *first != 1 || hit != 3 || !slices.Equal(ran, []string{"first", "second", "third"}) {
		t.Errorf("%v ran and hit %d and %d: %v", ran, *first, hit, err)
	}
	db.Queue("refused")
	db.Queue("behind it")
	if err := db.Each(t.Context(), nil, "last"); !errors.Is(err, refused) {
		t.Errorf("what follows a queued statement that fails has the error %v", err)
	}
	if len(ran) != 4 {
		t.Errorf("%v ran behind a statement that failed", ran[4:])
	}
}

func TestAStatementThatMustHitRowsFailsIfItHitsOthers(t *testing.T) {
	for hit, fails := range map[int64]bool{2: false, 1: true, 3: true} {
		queue := InOrder{Run: func(context.Context, string, ...any) (int64, error) { return hit, nil }}
		queue.Must(2, "update")
		queue.Must(0, "nothing to do")
		queue.Must(2, "")
		if err := queue.Flush(t.Context()); (err != nil) != fails {
			t.Errorf("%d rows instead of 2: %v", hit, err)
		}
	}
}
