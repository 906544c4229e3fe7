package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

// These tests measure, and assert nothing about the speed. Rounds with and without open
// transactions alternate, so that both see the same machine.

// compare logs how much is done in rounds with open transactions and in rounds without. A round
// returns how much it did.
func (c *caller) compare(what string, round func() int, open func()) {
	c.Helper()
	const rounds = 4
	var done [2]int
	var took [2]time.Duration
	round() // the first one fills caches
	for range rounds {
		for i := range done {
			if i == 1 {
				open()
			}
			begin := time.Now()
			done[i] += round()
			took[i] += time.Since(begin)
		}
		c.rollBack()
	}
	rate := func(i int) float64 { return float64(done[i]) / took[i].Seconds() }
	c.Logf("%s: %.0f per second next to open transactions, %.0f without: %.2f", what, rate(1), rate(0), rate(1)/rate(0))
}

func TestThroughputNextToOpenTransactions(t *testing.T) {
	tier.Long(t, "measures the throughput of a node")
	const jobs = 4000
	callers(t, func(c *caller) {
		c.run(&lockedText{}, func(client *fairlead.Client) {
			ended := int64(0)
			round := func() int {
				c.jobs(client, "plain", jobs)
				ended += jobs
				c.until("the jobs succeed", func() bool { return c.succeeded(client, "plain") == ended })
				return jobs
			}
			left := func(open int) func() {
				return func() {
					c.jobs(client, "careless", open)
					c.until("the handlers leave their transactions open", func() bool { return len(c.opened()) == open })
				}
			}
			for _, open := range []int{1, 20} {
				c.compare(fmt.Sprintf("jobs, %d open", open), round, left(open))
			}
			c.compare("jobs while limits are set, 1 open", func() int {
				var setting sync.WaitGroup
				over := make(chan struct{})
				setting.Go(func() {
					for most := 1; ; most++ {
						select {
						case <-over:
							return
						case <-time.After(50 * time.Millisecond):
						}
						if err := client.SetLimit(c.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "plain", MaxRunning: 1000 + most%2}); err != nil {
							c.Error(err)
						}
					}
				})
				defer setting.Wait()
				defer close(over)
				return round()
			}, left(1))
		})
	})
}

func TestSchedulesNextToOpenTransactions(t *testing.T) {
	tier.Long(t, "measures how many runs schedules have")
	const span = 3 * time.Second
	callers(t, func(c *caller) {
		schedules := schedule.NewClient(c.store)
		put := func(name string, job fairlead.Job) {
			if _, err := schedules.Put(c.Context(), schedule.Schedule{Name: name, Every: time.Second, Job: job}); err != nil {
				c.Fatal(err)
			}
		}
		for i := range 10 {
			put(fmt.Sprint("free ", i), fairlead.Job{Kind: "plain", Tenant: "free"})
		}
		put("held", fairlead.Job{Kind: "plain", Key: "key"})
		free := func(client *fairlead.Client) int {
			tally, err := client.Tally(c.Context(), fairlead.Filter{Kinds: []string{"plain"}, Tenants: []string{"free"}})
			if err != nil {
				c.Fatal(err)
			}
			return int(tally[fairlead.Succeeded])
		}
		c.run(&lockedText{}, func(client *fairlead.Client) {
			c.compare("runs of ten schedules, the key of another is held", func() int {
				before := free(client)
				<-time.After(span)
				return free(client) - before
			}, func() {
				c.until("no run has the key", func() bool {
					tx, err := c.db.BeginTx(c.Context(), nil)
					if err != nil {
						c.Fatal(err)
					}
					if client.Within(c.in(tx)).Enqueue(c.Context(), &fairlead.Job{Kind: "plain", Key: "key"}) != nil {
						_ = tx.Rollback()
						return false
					}
					c.open = append(c.open, tx)
					return true
				})
			})
		})
	})
}
