package sqlite

import (
	"fmt"
	"sync"
	"testing"
)

// Queries of many kinds are answered, even if there are too many to keep all of them
// prepared, and whichever of two goroutines asks first.
func TestStatementsThatAreKeptPreparedAreBounded(t *testing.T) {
	store := openForWriting(t)
	ask := func(query string) (answer int) {
		rows, err := store.reads.QueryContext(t.Context(), query)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer rows.Close()
		for rows.Next() {
			err = rows.Scan(&answer)
		}
		if err == nil {
			err = rows.Err()
		}
		if err != nil {
			t.Error(err)
		}
		return answer
	}
	for number := range mostPrepared + 10 {
		var askers sync.WaitGroup
		for range 2 {
			askers.Go(func() {
				if got := ask(fmt.Sprint("select ", number)); got != number {
					t.Errorf("asked for %d, got %d", number, got)
				}
			})
		}
		askers.Wait()
	}
	if kept := len(store.reads.all); kept != mostPrepared {
		t.Errorf("%d statements are kept, want %d", kept, mostPrepared)
	}
}
