package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

const modelKind = "sweep.model"

// allotment is nodes that claim and give shards as placement tells them, without
// anything else.
type allotment struct {
	t      *testing.T
	random *rand.Rand
	nodes  []fairlead.Node
	jobs   []*fairlead.Job
	sweeps int
	moves  int
}

func newAllotment(t *testing.T, seed uint64, shards ...int) *allotment {
	a := &allotment{t: t, random: rand.New(rand.NewPCG(seed, 1)), sweeps: len(shards)}
	for s, n := range shards {
		for i := range n {
			args, err := json.Marshal(sweep.ShardArgs{Sweep: int64(s + 1), Shard: i})
			if err != nil {
				t.Fatal(err)
			}
			job := &fairlead.Job{ID: int64(len(a.jobs) + 1), Kind: modelKind, Queue: fairlead.DefaultQueue, Args: args}
			job.State = fairlead.Ready
			a.jobs = append(a.jobs, job)
		}
	}
	return a
}

func (a *allotment) join() {
	a.nodes = append(a.nodes, fairlead.Node{ID: fairlead.NodeID(len(a.nodes) + 1), Kinds: []string{modelKind}, Idle: 100})
}

// leave takes a node away. Its shards wait.
func (a *allotment) leave(id fairlead.NodeID) {
	a.nodes[id-1].Dead = true
	for _, job := range a.jobs {
		if job.Node == id {
			job.State, job.Node = fairlead.Ready, 0
		}
	}
}

func (a *allotment) see() *placement { return newPlacement(a.nodes, a.jobs, a.sweeps) }

// claim lets nodes, in any order, claim until none does any more. A node that gave a
// shard does not. What others do not want, any node may have.
func (a *allotment) claim(giver fairlead.NodeID, unwanted bool) {
	for _, i := range a.random.Perm(len(a.nodes)) {
		id := a.nodes[i].ID
		p := a.see()
		host, share := p.host(id), p.share()
		if host == nil || id == giver {
			continue
		}
		for _, job := range a.jobs {
			sweep := sweep.Of(job)
			room := unwanted || share == 0 || host.total < share
			apart := p.spare() <= 0 && p.hosted(sweep, host)
			if job.State == fairlead.Ready && room && (host.shards[sweep] > 0 || len(host.shards) < p.most && !apart) {
				job.State, job.Node = fairlead.Running, id
				host.shards[sweep]++
				host.total++
			}
		}
	}
}

// settle goes on until no node gives anything any more.
func (a *allotment) settle() {
	a.t.Helper()
	a.claim(0, false)
	const most = 100
	for step := 0; ; step++ {
		given := false
		for _, i := range a.random.Perm(len(a.nodes)) {
			id := a.nodes[i].ID
			if sweep := a.see().surplus(id, false); sweep != 0 {
				given = true
				a.give(id, sweep)
				a.claim(id, false)
			}
		}
		if waiting := len(a.see().waiting); !given {
			if a.claim(0, true); len(a.see().waiting) == waiting {
				return
			}
		}
		if step > most {
			a.t.Fatalf("it goes on and on: %s", a)
		}
	}
}

func (a *allotment) give(id fairlead.NodeID, s int64) {
	for _, job := range a.jobs {
		if job.Node == id && sweep.Of(job) == s {
			job.State, job.Node = fairlead.Ready, 0
			a.moves++
			return
		}
	}
	a.t.Fatalf("node %d is to give a shard of sweep %d and has none: %s", id, s, a)
}

func (a *allotment) String() string {
	text := ""
	for _, h := range a.see().hosts {
		text += fmt.Sprintf("node %d has %v; ", h.node.ID, h.shards)
	}
	return text + fmt.Sprintf("%d wait", len(a.see().waiting))
}

// even expects that all is claimed, and that no node has two shards more than another
// that would take one.
func (a *allotment) even() {
	a.t.Helper()
	p := a.see()
	if len(p.waiting) > 0 {
		a.t.Fatalf("not all is claimed: %s", a)
	}
	for _, h := range p.hosts {
		if len(h.shards) > p.most {
			a.t.Fatalf("node %d has shards of more than %d sweeps: %s", h.node.ID, p.most, a)
		}
		for _, other := range p.hosts {
			if a.sweeps == 1 && h.total > other.total+1 {
				a.t.Fatalf("it is uneven: %s", a)
			}
		}
	}
}

func TestShardsFollowTheNodes(t *testing.T) {
	for seed := range uint64(50) {
		a := newAllotment(t, seed, 7)
		for _, step := range []struct {
			what  string
			do    func()
			moves int
		}{
			{"one node is there", a.join, 0},
			{"another joins", a.join, 3},
			{"a third joins", a.join, 3},
			{"one leaves", func() { a.leave(1) }, 0},
			{"two more join", func() { a.join(); a.join() }, 4},
			{"two leave", func() { a.leave(2); a.leave(5) }, 0},
		} {
			a.moves = 0
			step.do()
			a.settle()
			a.even()
			if a.moves > step.moves {
				t.Errorf("%s: %d shards moved, want no more than %d: %s", step.what, a.moves, step.moves, a)
			}
		}
	}
}

// A node that comes back under another name finds its shards with the one that is gone.
// Until they are taken back no node gives it others.
func TestNothingIsGivenWhileShardsAreToBeTakenBack(t *testing.T) {
	a := newAllotment(t, 1, 4)
	a.join()
	a.join()
	a.settle()
	a.nodes[0].Dead = true
	a.join()
	s := newSweeps(Options{MaxSweeps: 10})
	for id := range fairlead.NodeID(4) { // one is not known any more
		p := a.see()
		if onTheWay := s.see(p, id, time.Now()); !onTheWay || p.surplus(id, onTheWay) != 0 || p.share() != 2 {
			t.Errorf("node %d may have %d shards, and gives some of sweep %d", id, p.share(), p.surplus(id, onTheWay))
		}
	}
	a.leave(1)
	a.settle()
	a.even()
}

// However often a node looks, a shard is left for some time to those who have fewer.
func TestAShardThatNobodyClaimsIsForAnybodyAfterATime(t *testing.T) {
	a := newAllotment(t, 1, 4)
	a.join()
	a.join()
	s := newSweeps(Options{MaxSweeps: 10, Poll: time.Second})
	now := time.Now()
	for range 2 * sweepRest {
		if onTheWay := s.see(a.see(), 1, now); !onTheWay || s.room(now) != 2 {
			t.Fatalf("it may claim %d shards", s.room(now))
		}
	}
	now = now.Add(sweepRest * time.Second)
	if onTheWay := s.see(a.see(), 1, now); onTheWay || s.room(now) >= 0 {
		t.Errorf("it may claim %d shards", s.room(now))
	}
}

func TestNodesThatJoinLowerHowManySweepsEachHas(t *testing.T) {
	for seed := range uint64(50) {
		a := newAllotment(t, seed, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
		a.join()
		a.join()
		a.settle()
		a.join()
		a.settle()
		a.even()
		if a.moves > 4 {
			t.Errorf("%d shards moved: %s", a.moves, a)
		}
	}
}

func TestAnyPlacementSettles(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		shards := make([]int, 1+random.IntN(6))
		for i := range shards {
			shards[i] = 1 + random.IntN(6)
		}
		a := newAllotment(t, seed, shards...)
		for range 1 + random.IntN(5) {
			a.join()
		}
		for _, job := range a.jobs { // however they got there
			job.State, job.Node = fairlead.Running, a.nodes[random.IntN(len(a.nodes))].ID
		}
		a.settle()
		for _, h := range a.see().hosts {
			if len(h.shards) > a.see().most {
				t.Fatalf("seed %d: node %d has shards of more than %d sweeps: %s", seed, h.node.ID, a.see().most, a)
			}
		}
		for _, job := range a.see().waiting {
			if !a.see().hosted(sweep.Of(job), nil) {
				t.Fatalf("seed %d: no node runs a shard of sweep %d: %s", seed, sweep.Of(job), a)
			}
		}
	}
}

func TestOnlyWhoCanTakeAShardIsGivenOne(t *testing.T) {
	for name, change := range map[string]func(*fairlead.Node){
		"full":     func(n *fairlead.Node) { n.Idle = 0 },
		"dead":     func(n *fairlead.Node) { n.Dead = true },
		"draining": func(n *fairlead.Node) { n.Draining = true },
		"remote":   func(n *fairlead.Node) { n.Remote = true },
		"of other queues": func(n *fairlead.Node) {
			n.Queues = []string{"other"}
		},
		"of other kinds": func(n *fairlead.Node) { n.Kinds = []string{"sweep.other"} },
	} {
		a := newAllotment(t, 1, 4)
		a.join()
		a.settle()
		a.join()
		if a.see().surplus(1, false) == 0 {
			t.Fatal("nothing is given to a node that has nothing")
		}
		change(&a.nodes[1])
		if a.see().surplus(1, false) != 0 {
			t.Errorf("a shard is given though the other node is %s", name)
		}
	}
}
