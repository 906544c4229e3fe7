package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

// RemoteScenario is a scenario in which remote workers carry out batches while the servers
// that they use are killed.
type RemoteScenario struct {
	URL     string // URL of an empty database that all servers share
	Open    Opener
	Dir     string // directory for targets, histories and logs
	Seed    uint64 // seed of all random choices
	Servers int    // each has an address of its own, which its successor takes over; a node that serves no workers and is never killed does housekeeping
	Workers int    // each uses one server
	Batches Batches
	Node    Node          // configuration of the servers and the workers
	Every   time.Duration // minimum time between two kills
	Logf    func(format string, args ...any)
}

// RunRemote runs a scenario. Its record contains the batches, and the histories of the
// servers' nodes; remote workers write none. An error means that the scenario could not run
// to its end, not that a rule was violated.
func RunRemote(ctx context.Context, s RemoteScenario) (_ Record, err error) {
	store, err := s.Open(ctx, s.URL)
	if err != nil {
		return Record{}, fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	recorder, err := NewRecorder(s.Dir, "driver")
	if err != nil {
		return Record{}, err
	}
	d := &remoteDriver{RemoteScenario: s, Cluster: Cluster{
		Scenario: Scenario{URL: s.URL, Dir: s.Dir, Node: s.Node, Batches: s.Batches, Logf: s.Logf},
		store:    store, batches: batch.NewClient(store), recorder: recorder, random: rand.New(rand.NewPCG(s.Seed, s.Seed)),
	}}
	err = d.play(ctx)
	// Workers must leave while a server is still running.
	servers := d.workers
	d.workers = d.remotes
	err = errors.Join(err, d.shutDown())
	if d.workers = servers; d.keeper != nil {
		d.workers = append(d.workers, d.keeper)
	}
	err = errors.Join(err, d.shutDown(), recorder.Close())
	if err != nil {
		return Record{}, err
	}
	record := Record{Lease: s.Node.Lease, Beat: s.Node.Beat, Crashes: s.Node.maxCrashes()}
	if err := d.recordBatches(ctx, &record); err != nil {
		return Record{}, err
	}
	record.Events, err = ReadHistory(s.Dir)
	// The servers' own nodes have no information about the leases of tasks.
	record.Events = slices.DeleteFunc(record.Events, func(e Event) bool { return e.Job != 0 })
	return record, err
}

// remoteDriver is a running scenario. The workers of its cluster are the servers. It
// belongs to one goroutine.
type remoteDriver struct {
	RemoteScenario
	Cluster
	addresses []string // addresses of the servers
	remotes   []*process
	keeper    *process // takes back the jobs of dead nodes, because servers do not live long enough to do so
}

func (d *remoteDriver) play(ctx context.Context) error {
	var err error
	o := d.Cluster.orders("keeper")
	o.Files = false // the remote workers run the tasks
	if d.keeper, err = startProcess("", o); err != nil {
		return err
	}
	for range d.Servers {
		address, err := freeAddress(ctx)
		if err != nil {
			return err
		}
		d.addresses = append(d.addresses, address)
		p, err := d.serve(address)
		if err != nil {
			return err
		}
		d.workers = append(d.workers, p)
	}
	for i := range d.RemoteScenario.Workers {
		o := d.Cluster.orders(fmt.Sprintf("remote%d", i+1))
		o.Server = "http://" + d.addresses[i%len(d.addresses)]
		p, err := startProcess("", o)
		if err != nil {
			return err
		}
		d.remotes = append(d.remotes, p)
	}
	if err := d.registered(ctx); err != nil {
		return err
	}
	if err := d.makeBatches(ctx); err != nil {
		return err
	}
	return d.killUntilDone(ctx)
}

// freeAddress returns an unused loopback address.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// serve starts a server at an address.
func (d *remoteDriver) serve(address string) (*process, error) {
	d.lives++
	o := d.Cluster.orders(fmt.Sprintf("s%d", d.lives))
	o.Serve, o.Files = address, false
	return startProcess("", o)
}

// registered waits until all remote workers have joined.
func (d *remoteDriver) registered(ctx context.Context) error {
	const look = 50 * time.Millisecond
	for begun := time.Now(); ; {
		nodes, err := d.store.Nodes(ctx)
		if err != nil {
			return err
		}
		joined := 0
		for _, node := range nodes {
			if node.Remote && !node.Dead {
				joined++
			}
		}
		if joined >= len(d.remotes) {
			return nil
		}
		for _, p := range slices.Concat(d.workers, d.remotes) {
			if p.exited() || time.Since(begun) > GiveUp {
				return fmt.Errorf("%d of %d remote workers joined; the log of %s ends with:\n%s", joined, len(d.remotes), p.name, p.tail())
			}
		}
		if err := rest(ctx, look); err != nil {
			return err
		}
	}
}

// killUntilDone repeatedly kills a server until all batches have ended. On a slow machine
// it waits until tasks have ended since the last kill.
func (d *remoteDriver) killUntilDone(ctx context.Context) error {
	const look = 50 * time.Millisecond
	var spared batch.Tally
	since := time.Now()
	for kill := since.Add(d.RemoteScenario.Every); !d.batching.ended; {
		if err := rest(ctx, look); err != nil {
			return err
		}
		progressed, err := d.lookAtBatches(ctx)
		if d.unseen = err; progressed {
			since = time.Now()
		}
		if time.Since(since) > GiveUp {
			return fmt.Errorf("no task has ended for %v; the last look at the database: %w", GiveUp, d.unseen)
		}
		if time.Now().Before(kill) || d.batching.reached == spared || d.batching.ended {
			continue
		}
		kill, spared = time.Now().Add(d.RemoteScenario.Every), d.batching.reached
		if err := d.killServer(); err != nil {
			return err
		}
	}
	return nil
}

// killServer kills a server and starts another one at its address.
func (d *remoteDriver) killServer() error {
	i := d.random.IntN(len(d.workers))
	if err := d.workers[i].kill(); err != nil {
		return err
	}
	d.recorder.Note(Event{What: Killed, Process: d.workers[i].name})
	var err error
	d.workers[i], err = d.serve(d.addresses[i])
	return err
}
