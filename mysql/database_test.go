package mysql

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

func TestOnlyAnInsertThatSaysSoHitsNothingIfItsKeyIsTaken(t *testing.T) {
	s := opened(t, Migrated.MySQL(t), Options{})
	plain := fill("insert into {{secret}} (name, value) values (?, ?)", "secret", s.expand("secret"))
	marked := fill("insert {{mark}} into {{secret}} (name, value) values (?, ?)", "mark", unlessTaken, "secret", s.expand("secret"))
	err := database{s}.InTx(t.Context(), "test", func(ctx context.Context, db sqlstore.DB) error {
		for _, want := range []int64{1, 0} {
			if hit, err := db.Exec(ctx, marked, "name", []byte("x")); err != nil || hit != want {
				t.Errorf("it hit %d rows: %v", hit, err)
			}
		}
		if _, err := db.Exec(ctx, plain, "name", []byte("x")); !isDuplicate(err) {
			t.Errorf("the error of a key that is taken is %v", err)
		}
		return fairlead.ErrConflict
	})
	left := 0
	if failed := s.db.QueryRowContext(t.Context(), "select count(*) from "+s.expand("secret")).Scan(&left); failed != nil || err == nil || left != 0 {
		t.Errorf("%d rows are left of what was refused with %v (%v)", left, err, failed)
	}
}
