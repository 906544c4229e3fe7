package bench

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress shows the progress of a workload once a second.
type Progress struct {
	w        io.Writer
	terminal bool
}

// NewProgress returns a display on w: in place if w is a terminal, otherwise line by line.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w}
	if file, ok := w.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// Watch shows a count until stop is called, for workloads of other packages.
func (p *Progress) Watch(what string, total int64, count func() int64) (stop func()) {
	return p.watch(what, total, count)
}

// watch shows a count until stop is called. A total of zero is unknown.
func (p *Progress) watch(what string, total int64, count func() int64) (stop func()) {
	if p == nil {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		began := time.Now()
		before, last := count(), began
		for {
			select {
			case <-end:
				p.clear()
				return
			case now := <-ticker.C:
				done := count()
				rate := float64(done-before) / now.Sub(last).Seconds()
				p.show(what, done, total, rate, now.Sub(began))
				before, last = done, now
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func (p *Progress) show(what string, done, total int64, rate float64, elapsed time.Duration) {
	line := fmt.Sprintf("%s  %s", what, Grouped(float64(done)))
	if total > 0 {
		line += " of " + Grouped(float64(total))
	}
	line += fmt.Sprintf("  %s/s  %.0fs", Grouped(rate), elapsed.Seconds())
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K", line)
		return
	}
	fmt.Fprintln(p.w, line)
}

// clear clears the line on a terminal.
func (p *Progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
