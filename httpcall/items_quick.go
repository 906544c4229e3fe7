package httpcall

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/tracing"
)

// quick reports whether calls can be made quickly: with requests that differ by the
// numbers of items alone, over connections that the wire has, and with answers whose
// status and body say all.
func (p *plan) quick() bool {
	return strings.HasPrefix(p.url.origin, "http://") && p.method != http.MethodHead && p.method != http.MethodConnect &&
		p.tls == nil && p.signingSecret == "" && len(p.secretsUsed()) == 0 && p.success.expression == nil
}

// requests are texts of requests that were sent.
var requests = sync.Pool{New: func() any { return new([]byte) }}

// doQuickly makes the call for one item over a connection that is there already. It
// returns false if it made none, or on a connection that the target had closed: then
// the call is to be made as any other.
func (r *ItemsRun) doQuickly(ctx context.Context, items []CallItem) (reply Reply, called bool, err error) {
	if r.pattern == nil || items[0].Data != nil {
		return reply, false, nil
	}
	over := r.watch(ctx)
	if over == nil {
		return reply, false, nil
	}
	wire, now := r.call.handler.items.wire, time.Now()
	l := wire.again(r.call.address, now)
	if l == nil {
		return reply, false, nil
	}
	if !over.enter(l, now) {
		_ = l.conn.Close()
		return reply, false, nil
	}
	text := requests.Get().(*[]byte)
	*text = r.pattern.fill((*text)[:0], items[0].Index, items[0].Attempt)
	l.read, l.left = false, maxAnswerHeaders
	_, unsent := l.conn.Write(*text)
	requests.Put(text)
	if unsent == nil {
		if a, plain := l.plain(); plain {
			reply.Status, reply.Body = a.status, a.body
			if over.leave(l) {
				wire.put(l)
			} else {
				_ = l.conn.Close()
			}
			return reply, true, nil
		}
	}
	return r.doSlowly(ctx, over, l, unsent, items)
}

// doSlowly reads an answer that is out of the ordinary, if there is one.
func (r *ItemsRun) doSlowly(ctx context.Context, over *watch, l *connection, unsent error, items []CallItem) (reply Reply, called bool, err error) {
	ended := func() bool { return over.late(l) || ctx.Err() != nil }
	if !l.read && unsent != nil && !ended() {
		over.leave(l)
		_ = l.conn.Close()
		return reply, false, nil
	}
	call, err := r.fillIn(ctx, items)
	if err != nil {
		over.leave(l)
		_ = l.conn.Close()
		return reply, false, nil //nolint:nilerr // it is made anew, and fails for the same reason
	}
	response, err := r.call.handler.items.wire.receive(l, call.request, unsent, func() bool { return over.leave(l) })
	if err == nil {
		reply, err = readReply(call.request, response)
	} else if !l.read && !ended() {
		return reply, false, nil
	} else {
		err = noAnswer(call.request, err)
	}
	if err != nil && over.late(l) {
		err = lateAnswer(call.request)
	}
	return reply, true, err
}

// watch is the watch over calls under a context. There is none if they belong to a
// trace, which targets get to know.
func (r *ItemsRun) watch(ctx context.Context) *watch {
	over := r.watched.Load()
	if over == nil {
		over = newWatch(ctx, r.timeout)
		over.traced = tracing.Traceparent(ctx) != ""
		if !r.watched.CompareAndSwap(nil, over) {
			over = r.watched.Load()
		}
	}
	if over.ctx != ctx || over.traced {
		return nil
	}
	return over
}

// plain reads an answer that arrived as a whole, if it is an ordinary one. Else nothing
// is taken of it.
func (l *connection) plain() (plainAnswer, bool) {
	if _, err := l.in.Peek(1); err != nil {
		return plainAnswer{}, false
	}
	arrived, _ := l.in.Peek(l.in.Buffered())
	a, plain := readPlain(arrived)
	if !plain || a.size != len(arrived) { // with more than was asked for it is of no use to others
		return a, false
	}
	a.body = append([]byte(nil), a.body...)
	_, _ = l.in.Discard(a.size)
	return a, true
}
