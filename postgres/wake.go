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
	notifyEvery = 5 * time.Millisecond // between two notifications of one process
	notifyLanes = 500                  // so many fit into one message; more are "all"
)

// waker tells listeners of news: those of this process at once, those of
// others by NOTIFY, outside of any transaction and at most once per
// notifyEvery, because notifying is serialized over the whole server.
type waker struct {
	store   *Store
	hub     *sqlstore.Hub
	channel string
	tag     string // tells this process's own notifications

	mu      sync.Mutex
	pending news
	bell    chan struct{} // rung when pending is no longer empty
	stop    context.CancelFunc
	done    chan struct{}
}

// news is what a notification says.
type news struct {
	lanes  []int32 // with work, in order
	all    bool    // there may be work in any lane
	later  bool    // jobs were scheduled
	cancel bool    // a running job was asked to stop
}

func newWaker(s *Store, hub *sqlstore.Hub, channel string) *waker {
	ctx, stop := context.WithCancel(context.Background())
	w := &waker{store: s, hub: hub, channel: channel, tag: rand.Text()[:8], bell: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
	go w.loop(ctx)
	return w
}

func (w *waker) close() {
	w.stop()
	<-w.done
}

// work says that jobs became ready in lanes.
func (w *waker) work(lanes ...int32) {
	if len(lanes) == 0 {
		return
	}
	w.hub.Work(laneKeys(w.store.lanes.Lanes, lanes))
	w.tell(news{lanes: lanes})
}

// everything says that there may be work anywhere.
func (w *waker) everything() {
	w.hub.Work(nil)
	w.tell(news{all: true})
}

// later says that jobs were scheduled.
func (w *waker) later() {
	w.hub.Later()
	w.tell(news{later: true})
}

// cancel says that a running job was asked to stop.
func (w *waker) cancel() {
	w.hub.Cancel()
	w.tell(news{cancel: true})
}

func (w *waker) tell(n news) {
	w.mu.Lock()
	w.pending.add(n)
	w.mu.Unlock()
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

func (w *waker) loop(ctx context.Context) {
	defer close(w.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.bell:
		}
		w.mu.Lock()
		message := w.tag + w.pending.encode()
		w.pending = news{}
		w.mu.Unlock()
		// A notification that fails is a wake that is lost: polling finds the jobs.
		_ = w.store.runPlain(ctx, call{sql: w.store.sql.Notify, args: []any{w.channel, message}})
		select {
		case <-ctx.Done():
			return
		case <-time.After(notifyEvery):
		}
	}
}

func (n *news) add(more news) {
	n.all = n.all || more.all
	n.later = n.later || more.later
	n.cancel = n.cancel || more.cancel
	for _, lane := range more.lanes {
		if i, found := slices.BinarySearch(n.lanes, lane); !found && !n.all {
			n.lanes = slices.Insert(n.lanes, i, lane)
		}
	}
	if n.all || len(n.lanes) > notifyLanes {
		n.all, n.lanes = true, nil
	}
}

// encode writes news as words: "cancel", "later", "all", or the ids of lanes.
func (n *news) encode() string {
	var b strings.Builder
	for word, said := range map[string]bool{"cancel": n.cancel, "later": n.later, "all": n.all} {
		if said {
			b.WriteString(" " + word)
		}
	}
	for _, lane := range n.lanes {
		b.WriteByte(' ')
		b.WriteString(strconv.FormatInt(int64(lane), 10))
	}
	return b.String()
}

// decodeNews reads what encode wrote. What it does not understand may mean
// anything.
func decodeNews(words []string) news {
	var n news
	for _, word := range words {
		switch word {
		case "cancel":
			n.cancel = true
		case "later":
			n.later = true
		case "all":
			n.all = true
		default:
			lane, err := strconv.ParseInt(word, 10, 32)
			if err != nil {
				n.all = true
				continue
			}
			n.lanes = append(n.lanes, int32(lane))
		}
	}
	return n
}
