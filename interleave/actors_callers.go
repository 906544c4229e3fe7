package interleave

import (
	"database/sql"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// callerActors returns the transactions of callers. Each commits, rolls back, or stays open until the
// other actor has ended.
func callerActors() (actors []Actor) {
	for _, does := range []struct {
		name string
		on   []Trait
		do   func(c *cue, tx driver.Tx) string
	}{
		{"a caller enqueues", []Trait{hasPlain}, func(c *cue, tx driver.Tx) string { return c.addsIn(tx) }},
		{"a caller enqueues at the gate", []Trait{hasGate}, func(c *cue, tx driver.Tx) string { return c.addsIn(tx, behind("g")) }},
		{"a caller keeps a duplicate", []Trait{hasKey}, func(c *cue, tx driver.Tx) string {
			return c.addsIn(tx, keyed("k"), onDuplicate(fairlead.KeepDuplicate))
		}},
		{"a caller replaces a duplicate", []Trait{hasKey}, func(c *cue, tx driver.Tx) string {
			return c.addsIn(tx, keyed("k"), onDuplicate(fairlead.ReplaceDuplicate))
		}},
		{"a caller completes the job", []Trait{hasRun}, func(c *cue, tx driver.Tx) string {
			settled, err := tx.Settle(c.ctx, []fairlead.Settlement{{
				ID: c.job.ID, Fence: c.job.Fence, Move: fairlead.Succeed, FreeKey: true, Output: json.RawMessage(`"a caller's"`),
			}})
			if err != nil {
				return verdict(err)
			}
			return settledAs(settled[0])
		}},
	} {
		for _, ends := range []struct {
			name string
			end  func(c *cue, tx *sql.Tx, result string) string
		}{
			{" and commits", func(_ *cue, tx *sql.Tx, result string) string { return answered(tx.Commit(), result) }},
			{" and rolls back", func(_ *cue, tx *sql.Tx, result string) string { return answered(tx.Rollback(), result) }},
			{" and stays open", func(c *cue, tx *sql.Tx, result string) string {
				commit := func() string { return answered(tx.Commit(), result) }
				if c.performer == nil {
					return commit()
				}
				c.performer.open = commit
				return "open"
			}},
		} {
			actors = append(actors, Actor{Name: does.name + ends.name, On: does.on, Calls: true, Waits: true, Do: func(c *cue) string {
				return inTx(c, does.do, ends.end)
			}})
		}
	}
	return actors
}

// inTx runs a caller's transaction.
func inTx(c *cue, do func(c *cue, tx driver.Tx) string, end func(c *cue, tx *sql.Tx, result string) string) string {
	tx, err := c.caller.BeginTx(c.ctx, nil)
	if err != nil {
		return verdict(err)
	}
	within := c.within(c.store, tx)
	result := do(c, within)
	switch result {
	case "ok", "as asked", "lost":
		result = end(c, tx, result)
	default:
		_ = tx.Rollback()
	}
	if result != "open" {
		within.Wake()
	}
	return result
}

// addsIn enqueues a job in a caller's transaction.
func (c *cue) addsIn(tx driver.Tx, changes ...func(*fairlead.Job)) string {
	job := plain(changes...)
	return verdict(enqueueIn(c.ctx, tx, job))
}
