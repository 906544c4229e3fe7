package storetest

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// listener collects the wakes of one Listen.
type listener struct {
	wakes chan driver.Wake
	stop  context.CancelFunc
	done  chan error
}

// listen listens for a scope, at most until the test ends.
func (f *fixture) listen(scope *driver.Scope) *listener {
	f.Helper()
	ctx, stop := context.WithCancel(f.ctx())
	l := &listener{wakes: make(chan driver.Wake, 100), stop: stop, done: make(chan error, 1)}
	go func() {
		l.done <- f.store.Listen(ctx, scope, func(wake driver.Wake) {
			select {
			case l.wakes <- wake:
			default: // the channel has more wakes than any test needs
			}
		})
	}()
	if !l.heard(driver.WakeListening, patient) {
		f.Fatal("Listen does not tell when it has begun")
	}
	return l
}

// patient is how long, in real time, a listener waits for an event that should arrive
// immediately. It is long enough for any slow or busy machine.
const patient = 5 * time.Minute

// heard reports whether a wake of this type arrives within the given time.
func (l *listener) heard(want driver.Wake, moment time.Duration) bool {
	timeout := time.After(moment)
	for {
		select {
		case wake := <-l.wakes:
			if wake == want {
				return true
			}
		case <-timeout:
			return false
		}
	}
}

func testListen(c *chapter) {
	c.test("it tells when it has begun, because what was new before was not heard", func(f *fixture) {
		f.listen(everything())
	})
	c.test("it returns nil when its context ends", func(f *fixture) {
		l := f.listen(everything())
		l.stop()
		f.ok(<-l.done)
	})
	c.test("it returns nil if its context has ended before", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx())
		cancel()
		f.ok(f.store.Listen(ctx, everything(), func(driver.Wake) {}))
	})
	c.test("a store has many listeners, which come and go", func(f *fixture) {
		one, two := f.listen(everything()), f.listen(everything("other", kind))
		f.enqueue(plain())
		f.equal("the first is woken", one.heard(driver.WakeWork, patient), true)
		f.equal("the second is woken", two.heard(driver.WakeWork, patient), true)
		one.stop()
		f.ok(<-one.done)
		f.enqueue(plain())
		f.equal("the second is woken again", two.heard(driver.WakeWork, patient), true)
	})
	for _, example := range wakings() {
		c.test(example.sentence, func(f *fixture) {
			deed := example.prepare(f)
			l := f.listen(everything())
			deed()
			f.equal("somebody is woken", l.heard(example.want, patient), true)
		})
	}
}

// waking is an action that wakes the listeners of its own process.
type waking struct {
	sentence string
	want     driver.Wake
	prepare  func(f *fixture) (deed func())
}

func wakings() []waking {
	// enqueuing returns a deed that enqueues a job.
	enqueuing := func(changes ...func(*fairlead.Job)) func(f *fixture) func() {
		return func(f *fixture) func() { return func() { f.enqueue(with(changes...)) } }
	}
	// settling returns a deed that settles a running job.
	settling := func(settlement func(job *fairlead.Job) fairlead.Settlement) func(f *fixture) func() {
		return func(f *fixture) func() {
			job := f.in(fairlead.Running)
			return func() { f.settle(settlement(job)) }
		}
	}
	// doing returns a deed that calls verb for a job in a state.
	doing := func(state fairlead.State, verb func(f *fixture, job *fairlead.Job) error) func(f *fixture) func() {
		return func(f *fixture) func() {
			job := f.in(state)
			return func() { f.ok(verb(f, job)) }
		}
	}
	return []waking{
		{"Enqueue of a job that is due wakes for work", driver.WakeWork, enqueuing()},
		{"EnqueueOnce of a job that is due wakes for work", driver.WakeWork, func(f *fixture) func() {
			return func() { f.once(false, request("ann", "1", "x"), plain()) }
		}},
		{"EnqueueOnce of a job that is not due wakes for later", driver.WakeLater, func(f *fixture) func() {
			return func() {
				f.once(false, request("ann", "1", "x"), with(notBefore(f.now().Add(time.Hour))))
			}
		}},
		{"Drain wakes as a wish to cancel does", driver.WakeCancel, func(f *fixture) func() {
			node := f.join()
			return func() { f.drain(node, true) }
		}},
		{"Enqueue of a keyed job wakes for work", driver.WakeWork, enqueuing(keyed("k"))},
		{"Enqueue for a new lane wakes for work", driver.WakeWork, enqueuing(forTenant("new"))},
		{"what gives back a place at a gate wakes for the work that is admitted", driver.WakeWork, func(f *fixture) func() {
			jobs := f.queueUp(2)
			return func() { f.ok(operations(f.store).Cancel(f.ctx(), jobs[0].ID, "")) }
		}},
		{"Enqueue of a job that is not due wakes for later", driver.WakeLater, func(f *fixture) func() {
			return enqueuing(notBefore(f.now().Add(time.Second)))(f)
		}},
		{"Promote wakes for work that it made ready", driver.WakeWork, func(f *fixture) func() {
			f.enqueue(with(notBefore(f.now().Add(time.Second))))
			f.Advance(time.Second)
			return func() { f.promote() }
		}},
		{"Reap wakes for work that it made ready", driver.WakeWork, func(f *fixture) func() {
			job := f.in(fairlead.Running)
			return func() { f.crash(job) }
		}},
		{"Reopen wakes for work", driver.WakeWork, doing(fairlead.Failed, func(f *fixture, job *fairlead.Job) error {
			return operations(f.store).Reopen(f.ctx(), job.ID)
		})},
		{"RunNow wakes for work", driver.WakeWork, doing(fairlead.Scheduled, func(f *fixture, job *fairlead.Job) error {
			return operations(f.store).RunNow(f.ctx(), job.ID)
		})},
		{"Reschedule wakes for later", driver.WakeLater, doing(fairlead.Scheduled, func(f *fixture, job *fairlead.Job) error {
			return operations(f.store).Reschedule(f.ctx(), job.ID, f.now().Add(time.Second))
		})},
		{"Reschedule to a time that has come wakes for work", driver.WakeWork, doing(fairlead.Scheduled, func(f *fixture, job *fairlead.Job) error {
			return operations(f.store).Reschedule(f.ctx(), job.ID, f.now())
		})},
		{"Resume wakes for work", driver.WakeWork, func(f *fixture) func() {
			f.pause(queuePause("q"))
			return func() { f.resume(queuePause("q")) }
		}},
		{"Settle wakes for a retry that is due later", driver.WakeLater, settling(func(job *fairlead.Job) fairlead.Settlement {
			return again(job, time.Second)
		})},
		{"Settle wakes for a retry that is due at once", driver.WakeWork, settling(func(job *fairlead.Job) fairlead.Settlement {
			return again(job, 0)
		})},
		{"Settle wakes for work that is given back", driver.WakeWork, settling(func(job *fairlead.Job) fairlead.Settlement {
			return to(fairlead.MoveRelease, job)
		})},
		{"Settle wakes for a replacement", driver.WakeWork, settling(func(job *fairlead.Job) fairlead.Settlement {
			settlement := to(fairlead.Succeed, job)
			settlement.Replace = normalized(plain())
			return settlement
		})},
		{"Resolve wakes for a retry that is due later", driver.WakeLater, doing(fairlead.Waiting, func(f *fixture, job *fairlead.Job) error {
			return f.store.Resolve(f.ctx(), again(job, time.Second))
		})},
		{"Cancel of a running job wakes for cancels", driver.WakeCancel, doing(fairlead.Running, func(f *fixture, job *fairlead.Job) error {
			return operations(f.store).Cancel(f.ctx(), job.ID, "")
		})},
		{"a transaction wakes after its commit", driver.WakeWork, func(f *fixture) func() {
			return func() {
				tx := f.begin()
				f.enqueueIn(tx, plain())
				f.ok(tx.Commit())
			}
		}},
		{"a transaction wakes when it is told to after the commit", driver.WakeWork, func(f *fixture) func() {
			return func() {
				tx := f.begin()
				f.enqueueIn(tx, plain())
				f.ok(tx.Commit())
				tx.Tx.Wake()
			}
		}},
	}
}
