package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
)

// testHistoryRepeatsExplain changes limits, pauses and free slots at random while a job waits.
// What Explain said of the job at the time is what its history says later.
func testHistoryRepeatsExplain(f *fixture, seed uint64) {
	lot := rand.New(rand.NewPCG(seed, 41))
	w, node := f.witness(), f.joinIdle()
	for range 3 {
		f.running(forTenant("acme"))
	}
	f.watch(w, 1, 0, node)
	job := f.enqueue(with(forTenant("acme")))
	const phases, looks = 8, 6
	told := map[time.Time][]string{}
	for range phases {
		f.cap(fairlead.LimitTenant, "acme", lot.IntN(5))
		f.cap(fairlead.LimitKind, kind, lot.IntN(5))
		f.ok(f.resumeAll())
		if lot.IntN(3) == 0 {
			f.pause(queuePause(fairlead.DefaultQueue))
		}
		idle := lot.IntN(2)
		f.watch(w, looks, idle, node)
		e, err := f.store.Explain(f.ctx(), job.ID)
		f.ok(err)
		told[f.now().Add(-between/2)] = gist(e.Obstacles) // a hold ends when it was last seen
	}
	f.ok(f.resumeAll())
	f.watch(w, looks, 3, node)
	history, err := f.store.History(f.ctx(), job.ID)
	f.ok(err)
	for at, want := range told {
		i := slices.IndexFunc(history.Stretches, func(s hold.Stretch) bool { return !at.Before(s.From) && (s.Until.IsZero() || at.Before(s.Until)) })
		if i < 0 {
			f.Fatalf("the history has nothing about %v", at)
		}
		f.equal(fmt.Sprintf("the causes at %v", at), gist(history.Stretches[i].Causes), want)
	}
}

// gist returns what obstacles and causes have in common.
func gist(obstacles []fairlead.Obstacle) (lines []string) {
	for _, o := range obstacles {
		lines = append(lines, fmt.Sprintf("%s %s %s, cap %d", o.Code, o.Scope, o.Name, o.Cap))
	}
	if len(lines) == 0 {
		return []string{fmt.Sprintf("%s  , cap 0", fairlead.InLine)} // it is about to start
	}
	slices.Sort(lines)
	return lines
}
