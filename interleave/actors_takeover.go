package interleave

import "github.com/fairlead-io/fairlead/driver"

// takeoverActors returns nodes that take jobs over from a node that has died or left, and start
// them again. The earlier run then has an old fence.
func takeoverActors() []Actor {
	return []Actor{
		{Name: "take over", On: []Trait{hasDead}, Repeats: true, Steps: true, Do: takeOver},
		{Name: "take over the shard", On: []Trait{hasSweep, hasRun}, Repeats: true, Steps: true, Do: func(c *cue) string {
			if err := c.store.Leave(c.ctx, c.holder); err != nil {
				return verdict(err)
			}
			return takeOver(c)
		}},
	}
}

// takeOver reaps and claims jobs, also those that were running during a crash.
func takeOver(c *cue) string {
	if _, err := c.store.Reap(c.ctx, c.reap()); err != nil {
		return verdict(err)
	}
	return combined(c.claims(driver.Claim{Max: 10}), c.claims(driver.Claim{Max: 10, Solo: true}))
}
