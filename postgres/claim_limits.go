package postgres

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// claimLimit is a limit that this claim has locked.
type claimLimit struct {
	dispatch.Limit
	folded     int // slots given back since the row was written
	refilledAt int64
}

// tenants returns the limits of the lanes' tenants that have not been asked for yet, in
// order.
func (l *limitedClaim) tenants(lanes []*busyLane) (tenants []int32) {
	seen := map[int32]bool{}
	for _, lane := range lanes {
		if !lane.open.limited() {
			continue
		}
		for _, id := range lane.open.hold.limits {
			if !l.free[id] && !seen[id] && l.known.ofTenant(id) {
				seen[id] = true
				tenants = append(tenants, id)
			}
		}
	}
	slices.Sort(tenants)
	return tenants
}

// readLimit reads a row of fold_limits.
func (l *limitedClaim) readLimit(row sqlstore.Scanner) error {
	var what string
	var id int32
	var n int
	var tokens float64
	var refilledAt, now int64
	if err := row.Scan(&what, &id, &n, &tokens, &refilledAt, &now); err != nil {
		return err
	}
	if what == "open" {
		l.free[id] = true
		return nil
	}
	a := l.accounts[id]
	if a == nil {
		a = &claimLimit{Limit: sqlstore.LimitOf(l.known.ByID[id])}
		l.accounts[id] = a
	}
	if what == "folded" {
		a.Used, a.folded = a.Used-n, n
		return nil
	}
	a.Used, a.Tokens, a.refilledAt = a.Used+n, tokens, now
	a.Refill(time.Duration(now-refilledAt) * time.Microsecond)
	return nil
}

// limitArgs returns the limits to write.
func (l *limitedClaim) limitArgs(picks []dispatch.Pick) []any {
	spent := dispatch.Spent(picks)
	ids, folded, tokens, refilledAt := []int32{}, []int32{}, []float64{}, []int64{}
	for id, a := range l.accounts {
		if spent[&a.Limit] > 0 || a.folded != 0 {
			ids, folded = append(ids, id), append(folded, int32(a.folded))
			tokens, refilledAt = append(tokens, a.Tokens), append(refilledAt, a.refilledAt)
		}
	}
	return []any{ids, folded, tokens, refilledAt}
}
