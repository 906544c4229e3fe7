package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestALateClaimIsNoCrash(t *testing.T) {
	at := testdb.Postgres(t)
	h := newHarness(t, at, Options{ListenURL: noListening})
	h.Open(t) // makes the tables
	exec(t, at, `create table public.held_claim (job bigint not null)`)
	exec(t, at, `create function public.hold_claim() returns trigger language plpgsql as $$
		begin
			if exists (select from public.held_claim where job = new.id) then
				perform set_config('lock_timeout', '0', true);
				perform pg_advisory_xact_lock_shared(77);
			end if;
			return new;
		end $$`)
	exec(t, at, "create trigger hold before insert on fairlead_running for each row execute function public.hold_claim()")
	hold := func(t *testing.T, job int64) (release func()) {
		exec(t, at, fmt.Sprintf("insert into public.held_claim values (%d)", job))
		tx, err := connect(t, at).Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), "select pg_advisory_xact_lock(77)")
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := tx.Rollback(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
			exec(t, at, "delete from public.held_claim")
		}
	}
	storetest.LateClaims(t, h, hold)
	t.Run("a claim that committed in time is a crash, under a larger fence too", func(t *testing.T) {
		storetest.LateClaimUnderASmallerFence(t, h, hold)
	})
}
