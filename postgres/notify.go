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
	notifyRest  = 20 * time.Millisecond // the same while there is news all the time: those who listen are busy
	notifyLanes = 500                   // so many fit into one message; more are "all"
)

// notifier tells listeners of news: those of this process at once, those of
// others by NOTIFY, outside of any transaction and at most once per
// notifyEvery, because notifying is serialized over the whole server.
type notifier struct {
	store   *Store
	hub     *sqlstore.Hub
	channel string
	tag     string // tells this process's own notifications

	mu      sync.Mutex
	pending wakes
	bell    chan struct{} // rung when pending is no longer empty
	stop    context.CancelFunc
	done    chan struct{}
}

// wakes is what a notification says.
type wakes struct {
	lanes  map[int32]bool // with work; true if it may stand before what was claimed already
	all    bool           // there may be work anywhere
	later  bool           // jobs were scheduled
	cancel bool           // a running job was asked to stop
	freed  bool           // jobs gave back slots that others may wait for
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

// work says that jobs became ready in lanes, anywhere in their order.
func (w *notifier) work(lanes ...int32) {
	w.store.laneCursors.rewind(lanes...)
	w.tellWork(lanes, true)
}

// atEnd says that new jobs became ready at the end of lanes.
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
	w.tell(n)
}

// everything says that there may be work anywhere.
func (w *notifier) everything() {
	w.store.laneCursors.rewindAll()
	w.store.laneHeads.touchAll()
	w.hub.Work(nil)
	w.tell(wakes{all: true})
}

// freed says that jobs gave back slots of limits. What waits for them stands
// where it stood.
func (w *notifier) freed() {
	w.hub.Room()
	w.tell(wakes{freed: true})
}

// later says that jobs were scheduled.
func (w *notifier) later() {
	w.hub.Later()
	w.tell(wakes{later: true})
}

// cancel says that a running job was asked to stop.
func (w *notifier) cancel() {
	w.hub.Cancel()
	w.tell(wakes{cancel: true})
}

func (w *notifier) tell(n wakes) {
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
		// A notification that fails is a wake that is lost: polling finds the jobs.
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

// encode writes news as words: "cancel", "later", "freed", "all", or the ids of
// lanes, negative where work may stand before what was claimed already.
func (n *wakes) encode() string {
	var words []string
	for word, said := range map[string]bool{"cancel": n.cancel, "later": n.later, "freed": n.freed, "all": n.all} {
		if said {
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

// decodeWakes reads what encode wrote. What it does not understand may mean
// anything.
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
