package httpcall

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
)

// take finds an idle connection: one of the loop, or else one of others that the loop
// makes its own.
func (l *loop) take(address string) *socket {
	if sockets := l.idle[address]; len(sockets) > 0 {
		s := sockets[len(sockets)-1]
		if l.now.Sub(s.since) < idleLine {
			l.idle[address] = sockets[:len(sockets)-1]
			return s
		}
		l.closeIdle() // the others are older
	}
	other := l.handler.items.wire.again(address, l.now)
	if other == nil {
		return nil
	}
	defer other.conn.Close()
	fd := duplicate(other.conn)
	if fd < 0 || !l.listen(fd) {
		_ = syscall.Close(fd)
		return nil
	}
	s := &socket{fd: fd, address: address}
	l.lines[int32(fd)] = s
	return s
}

// duplicate is another descriptor of a connection, of which Go does not know.
func duplicate(conn net.Conn) int {
	fd := -1
	if owner, ok := conn.(syscall.Conn); ok {
		if raw, err := owner.SyscallConn(); err == nil {
			_ = raw.Control(func(of uintptr) {
				if made, _, failed := syscall.Syscall(syscall.SYS_FCNTL, of, syscall.F_DUPFD_CLOEXEC, 0); failed == 0 {
					fd = int(made)
				}
			})
		}
	}
	return fd
}

// put keeps a connection for the next call.
func (l *loop) put(s *socket) {
	s.run, s.since = nil, l.now
	l.idle[s.address] = append(l.idle[s.address], s)
}

// forget is for a connection that is idle no more.
func (l *loop) forget(s *socket) {
	l.idle[s.address] = slices.DeleteFunc(l.idle[s.address], func(other *socket) bool { return other == s })
}

func (l *loop) close(s *socket) {
	delete(l.lines, int32(s.fd))
	_ = syscall.Close(s.fd)
}

// closeIdle closes connections that were not used for long.
func (l *loop) closeIdle() {
	l.looked = l.now
	for address, sockets := range l.idle {
		old := 0
		for old < len(sockets) && l.now.Sub(sockets[old].since) >= idleLine {
			l.close(sockets[old])
			old++
		}
		if l.idle[address] = slices.Delete(sockets, 0, old); len(l.idle[address]) == 0 {
			delete(l.idle, address)
		}
	}
}

// leaveTo lets a goroutine make a call.
func (l *loop) leaveTo(call func() (Reply, error), number int) {
	l.others.Go(func() {
		end := ItemsEnd{Number: number}
		defer func() {
			if value := recover(); value != nil {
				end.Err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.news = append(l.news, end)
			l.ring()
		}()
		end.Reply, end.Err = call()
	})
}

// handOver lets a goroutine read the rest of an answer that is out of the ordinary. It
// leaves the connection to all.
func (l *loop) handOver(s *socket, arrived []byte) {
	_ = syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_DEL, s.fd, nil)
	delete(l.lines, int32(s.fd))
	run, item, entered, until := s.run, s.item, s.entered, s.until
	file := os.NewFile(uintptr(s.fd), "connection")
	l.leaveTo(func() (Reply, error) {
		said := unknown
		defer func() { l.handler.breakers.leave(entered, said) }()
		conn, err := net.FileConn(file)
		_ = file.Close()
		ctx, cancel := context.WithDeadline(l.ctx, until)
		defer cancel()
		call, unready := run.fillIn(ctx, []CallItem{item})
		if unready != nil {
			return Reply{}, unprepared(unready)
		}
		var reply Reply
		if err != nil {
			err = noAnswer(call.request, err)
		} else {
			reply, err = l.handler.items.wire.goOn(newLine(conn, s.address, arrived), call.request)
		}
		said = verdictOf(reply, err)
		return run.conclude(call, reply, err)
	}, s.number)
}
