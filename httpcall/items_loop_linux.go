package httpcall

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// loop waits for its connections itself. Go's own way would wake a goroutine for each,
// by way of a scheduler that looks for work everywhere.
type loop struct {
	ctx     context.Context
	handler *Handler
	poll    int    // an epoll instance
	bell    [2]int // a pipe that ends a wait
	events  []syscall.EpollEvent
	stop    func() bool   // the watch for the context's end
	rung    chan struct{} // it has come

	lines    map[int32]*socket
	idle     map[string][]*socket // by address; the one that was used last is the last
	now      time.Time            // when the loop looked at the clock last
	due      time.Time            // no call under way is overdue before
	looked   time.Time            // when idle connections were looked at
	request  []byte
	arrived  []byte
	ended    []ItemsEnd
	fit, odd int // calls that were for a loop, and those that were not

	others sync.WaitGroup // calls that goroutines make
	mu     sync.Mutex
	news   []ItemsEnd // of those
}

// socket is a connection of a loop, and the call that uses it.
type socket struct {
	fd      int
	address string
	since   time.Time // it is idle
	run     *ItemsRun // nil: it is idle
	number  int
	item    CallItem
	entered entry
	until   time.Time
}

// newLoop makes a loop. Its thread waits in the kernel, so it is its own.
func newLoop(ctx context.Context, handler *Handler) ItemsLoop {
	l := &loop{
		ctx: ctx, handler: handler, events: make([]syscall.EpollEvent, 64), lines: map[int32]*socket{}, idle: map[string][]*socket{},
		now: time.Now(), arrived: make([]byte, 16<<10), rung: make(chan struct{}),
	}
	l.due, l.looked = l.now.Add(time.Hour), l.now
	var err error
	if l.poll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil
	}
	if err := syscall.Pipe2(l.bell[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		_ = syscall.Close(l.poll)
		return nil
	}
	if !l.listen(l.bell[0]) {
		l.closeAll()
		return nil
	}
	l.stop = context.AfterFunc(ctx, func() {
		l.ring()
		close(l.rung)
	})
	runtime.LockOSThread()
	return l
}

func (l *loop) listen(fd int) bool {
	return syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}) == nil
}

// ring ends the wait.
func (l *loop) ring() { _, _ = syscall.Write(l.bell[1], []byte{0}) } // if it is full, it rings already

// Close lets go of everything.
func (l *loop) Close() {
	if !l.stop() {
		<-l.rung
	}
	l.others.Wait()
	runtime.UnlockOSThread()
	l.closeAll()
}

func (l *loop) closeAll() {
	for _, s := range l.lines {
		_ = syscall.Close(s.fd)
	}
	for _, fd := range []int{l.poll, l.bell[0], l.bell[1]} {
		_ = syscall.Close(fd)
	}
}

// Fits counts. An answer that is out of the ordinary costs a loop much.
func (l *loop) Fits() bool { return l.odd < 64 || l.odd < l.fit/8 }

// Begin begins a call on a connection that is there. Others make the first calls, and
// leave theirs.
func (l *loop) Begin(run *ItemsRun, number int, item CallItem) {
	if run.pattern == nil || item.Data != nil || l.ctx.Err() != nil {
		l.odd++
		l.leaveTo(func() (Reply, error) { return run.Do(l.ctx, []CallItem{item}) }, number)
		return
	}
	l.now = time.Now() // the last wait may be long ago
	if s := l.take(run.call.address); s != nil {
		entered, _ := l.handler.breakers.enter(run.call.address)
		if entered.breaker == nil {
			l.put(s)
		} else if l.send(s, run, item) {
			s.run, s.number, s.item, s.entered, s.until = run, number, item, entered, l.now.Add(run.timeout)
			if s.until.Before(l.due) {
				l.due = s.until
			}
			return
		} else {
			l.handler.breakers.leave(entered, unknown)
			l.close(s)
		}
	}
	l.leaveTo(func() (Reply, error) { return run.Do(l.ctx, []CallItem{item}) }, number)
}

// send sends a request, all of it or to no avail.
func (l *loop) send(s *socket, run *ItemsRun, item CallItem) bool {
	l.request = run.pattern.fill(l.request[:0], item.Index, item.Attempt)
	n, err := syscall.Write(s.fd, l.request)
	return err == nil && n == len(l.request)
}

// Wait takes the answers that have arrived.
func (l *loop) Wait(most time.Duration) []ItemsEnd {
	l.ended = l.ended[:0]
	most = max(0, min(most, time.Until(l.due)))
	n, err := syscall.EpollWait(l.poll, l.events, int((most+time.Millisecond-1)/time.Millisecond))
	l.now = time.Now()
	if err != nil {
		n = 0 // a signal came
	}
	for i := range n {
		if fd := l.events[i].Fd; int(fd) == l.bell[0] {
			l.answerBell()
		} else if s := l.lines[fd]; s != nil {
			l.receive(s)
		}
	}
	if l.ctx.Err() != nil || !l.now.Before(l.due) {
		l.endOverdue()
	}
	if l.now.Sub(l.looked) > idleLine/2 {
		l.closeIdle()
	}
	return l.ended
}

// answerBell takes what others have to say.
func (l *loop) answerBell() {
	_, _ = syscall.Read(l.bell[0], l.arrived)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, l.news...)
	l.news = l.news[:0]
}

// receive reads what has arrived on a connection.
func (l *loop) receive(s *socket) {
	n, err := syscall.Read(s.fd, l.arrived)
	switch {
	case n < 0 && (errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)):
		return
	case s.run == nil: // the target has closed it, or sends what it was not asked for
		l.forget(s)
		l.close(s)
		return
	case n <= 0: // the target had closed it
		l.odd++
		l.handler.breakers.leave(s.entered, unknown)
		l.close(s)
		run, item := s.run, s.item
		l.leaveTo(func() (Reply, error) { return run.Do(l.ctx, []CallItem{item}) }, s.number)
		return
	}
	a, plain := readPlain(l.arrived[:n])
	if !plain || a.size != n {
		l.odd++
		l.handOver(s, bytes.Clone(l.arrived[:n]))
		return
	}
	l.fit++
	reply := Reply{Status: a.status, Body: bytes.Clone(a.body)}
	l.handler.breakers.leave(s.entered, answered)
	run, item := s.run, s.item
	l.put(s)
	if err = run.call.plan.success.met(reply); err != nil {
		reply, err = run.judged(l.ctx, item, reply)
	}
	l.ended = append(l.ended, ItemsEnd{s.number, reply, err})
}

// endOverdue ends the calls whose time is over, or all if the context has ended.
func (l *loop) endOverdue() {
	l.due = l.now.Add(time.Hour)
	over := l.ctx.Err() != nil
	for _, s := range l.lines {
		switch {
		case s.run == nil:
		case over || !l.now.Before(s.until):
			said := unhealthy
			if over {
				said = unknown
			}
			l.handler.breakers.leave(s.entered, said)
			l.close(s)
			reply, err := s.run.unanswered(l.ctx, s.item)
			l.ended = append(l.ended, ItemsEnd{s.number, reply, err})
		case s.until.Before(l.due):
			l.due = s.until
		}
	}
}
