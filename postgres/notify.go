package postgres

import (
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	notifyEvery = 5 * time.Millisecond  // between two notifications of one process
	notifyRest  = 20 * time.Millisecond // the same during a steady stream of wakes: the listeners are busy then
	notifyLanes = 500                   // so many fit into one message; more become "all"
)

// notifier wakes listeners: those of this process at once, those of other processes by
// NOTIFY, outside of any transaction and at most once per notifyEvery, because the
// server serializes all notifications.
type notifier struct {
	store   *Store
	hub     *sqlstore.Hub
	channel string
	tag     string // identifies this process's own notifications

	mu      sync.Mutex
	pending wakes
	bell    chan struct{} // rung when pending is no longer empty
	stop    context.CancelFunc
	done    chan struct{}
}

// wakes is the content of a notification.
type wakes struct {
	lanes  map[int32]bool // lanes with work; true if it may stand before jobs claimed already
	all    bool           // there may be work anywhere
	later  bool           // jobs were scheduled
	cancel bool           // a running job was asked to stop
	freed  bool           // jobs gave back slots that other jobs may wait for
}

func newNotifier(s *Store, hub *sqlstore.Hub, channel string) *notifier {
	ctx, stop := context.WithCancel(context.Background())
	w := &notifier{store: s, hub: hub, channel: channel, tag: rand.Text()[:8], bell: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
	go w.loop(ctx)
	return w
}

func (w *notifier) close() {
	w.stop()
	<-w.done
}

// work wakes lanes in which jobs became ready, anywhere in their order.
func (w *notifier) work(lanes ...int32) {
	w.store.laneCursors.rewind(lanes...)
	w.tellWork(lanes, true)
}

// atEnd wakes lanes at the end of which new jobs became ready.
func (w *notifier) atEnd(lanes ...int32) { w.tellWork(lanes, false) }

func (w *notifier) tellWork(lanes []int32, before bool) {
	if len(lanes) == 0 {
		return
	}
	w.store.laneHeads.touch(lanes...)
	w.hub.Work(laneKeys(w.store.lanes.Lanes, slices.Values(lanes)))
	n := wakes{lanes: make(map[int32]bool, len(lanes))}
	for _, lane := range lanes {
		n.lanes[lane] = before
	}
	w.notify(n)
}

// everything wakes all lanes.
func (w *notifier) everything() {
	w.store.laneCursors.rewindAll()
	w.store.laneHeads.touchAll()
	w.hub.Work(nil)
	w.notify(wakes{all: true})
}

// freed reports that jobs gave back slots of limits. The jobs that wait for them keep
// their place in the order.
func (w *notifier) freed() {
	w.hub.Room()
	w.notify(wakes{freed: true})
}

// later reports that jobs were scheduled.
func (w *notifier) later() {
	w.hub.Later()
	w.notify(wakes{later: true})
}

// cancel reports that a running job was asked to stop.
func (w *notifier) cancel() {
	w.hub.Cancel()
	w.notify(wakes{cancel: true})
}

func (w *notifier) notify(n wakes) {
	w.mu.Lock()
	w.pending.add(n)
	w.mu.Unlock()
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

func (w *notifier) loop(ctx context.Context) {
	defer close(w.done)
	rest := notifyEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.bell:
		}
		w.mu.Lock()
		message := w.tag + " " + w.pending.encode()
		w.pending = wakes{}
		w.mu.Unlock()
		// A notification that fails is a lost wake: polling finds the jobs.
		_ = w.store.runPlain(ctx, call{sql: w.store.sql.Notify, args: []any{w.channel, message}})
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		if len(w.bell) == 0 {
			rest = notifyEvery
		} else {
			rest = min(rest*5/4, notifyRest)
		}
	}
}

func (n *wakes) add(more wakes) {
	n.all, n.later, n.cancel, n.freed = n.all || more.all, n.later || more.later, n.cancel || more.cancel, n.freed || more.freed
	if n.lanes == nil {
		n.lanes = map[int32]bool{}
	}
	for lane, before := range more.lanes {
		n.lanes[lane] = n.lanes[lane] || before
	}
	if n.all || len(n.lanes) > notifyLanes {
		n.all, n.lanes = true, nil
	}
}

// encode writes wakes as words: "cancel", "later", "freed", "all", or the ids of lanes,
// negative where work may stand before jobs claimed already.
func (n *wakes) encode() string {
	var words []string
	for word, set := range map[string]bool{"cancel": n.cancel, "later": n.later, "freed": n.freed, "all": n.all} {
		if set {
			words = append(words, word)
		}
	}
	for lane, before := range n.lanes {
		if before {
			lane = -lane
		}
		words = append(words, strconv.FormatInt(int64(lane), 10))
	}
	return strings.Join(words, " ")
}

// decodeWakes reads what encode wrote. A word that it does not understand wakes
// everything.
func decodeWakes(words []string) wakes {
	n := wakes{lanes: map[int32]bool{}}
	for _, word := range words {
		switch word {
		case "cancel":
			n.cancel = true
		case "later":
			n.later = true
		case "freed":
			n.freed = true
		case "all":
			n.all = true
		default:
			lane, err := strconv.ParseInt(word, 10, 32)
			if err != nil {
				n.all = true
				continue
			}
			n.lanes[int32(max(lane, -lane))] = lane < 0
		}
	}
	return n
}
