package sqlite

import (
	"context"
	"reflect"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

func TestTheClockAndNewNumbersFollowTheArgumentsOfTheCaller(t *testing.T) {
	tx := &txn{now: 5, counters: counters{read: map[counter]int64{}, now: map[counter]int64{"token": 8}}}
	text, bound, err := (&txnDB{t: tx}).bind("values (:new_token, ?1, :now, ?2, :now)", []any{sqlstore.JSON(nil), sqlstore.List[int64]{1, 2}})
	if want := "values (?3, ?1, ?4, ?2, ?4)"; err != nil || text != want {
		t.Fatalf("the text is %q: %v", text, err)
	}
	if want := []any{nil, "[1,2]", int64(9), int64(5)}; !reflect.DeepEqual(bound, want) {
		t.Errorf("the arguments are %v", bound)
	}
}

func TestRowsMayBeOneArgument(t *testing.T) {
	var rows sqlstore.Rows
	rows.Add(int64(1), "a", true)
	rows.Add(int64(2), "", false)
	text, bound, together := withRows("from json_each(:rows) where ?1", []any{int64(7)}, &rows)
	if want := "from json_each(?2) where ?1"; !together || text != want {
		t.Errorf("the text is %q", text)
	}
	if want := []any{int64(7), `[[1,"a",true],[2,"",false]]`}; !reflect.DeepEqual(bound, want) {
		t.Errorf("the arguments are %v", bound)
	}
}

func TestAFunctionThatHitsNothingLeavesNothingToUndo(t *testing.T) {
	s, err := Open(t.Context(), ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range []bool{true, false} { // the second finds its key taken
		err := database{s}.InTx(t.Context(), "test", func(ctx context.Context, db sqlstore.DB) error {
			_, err := db.Exec(ctx, s.sql.AddToken, "name", "viewer", sqlstore.JSON(nil), []byte("hash"), int64(0))
			if wrote := db.(*txnDB).t.wrote; wrote != want {
				t.Errorf("whether there is something to undo is %v", wrote)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
