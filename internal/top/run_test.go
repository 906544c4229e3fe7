package top

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// paper collects a view's output while a test reads it.
type paper struct {
	mu    sync.Mutex
	drawn bytes.Buffer
}

func (p *paper) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drawn.Write(text)
}

// take returns the output since the last call.
func (p *paper) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.drawn.Reset()
	return p.drawn.String()
}

// shown runs a view in a bubble until it ends. It calls do with functions to press keys and
// to read the output.
func shown(t *testing.T, look func(context.Context) (Snapshot, error), do func(press func(string), drawn func() string, cancel context.CancelFunc)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out paper
		terminal, err := openTerminal(strings.NewReader(""), &out)
		if err != nil {
			t.Fatal(err)
		}
		sent, ended := make(chan []byte), make(chan error)
		go func() { ended <- show(ctx, newModel(false), look, time.Second, sent, terminal) }()
		drawn := func() string {
			synctest.Wait()
			return out.take()
		}
		do(func(keys string) { sent <- []byte(keys) }, drawn, cancel)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		err = terminal.close()
		if left := out.take(); err != nil || !strings.HasSuffix(left, leave) {
			t.Errorf("the terminal was left as %q (%v)", left, err)
		}
	})
}

func TestTheViewLooksAgainAndAgain(t *testing.T) {
	looks := 0
	shown(t, func(context.Context) (Snapshot, error) {
		if looks++; looks == 2 {
			return Snapshot{}, errors.New("gone")
		}
		next := busy()
		next.Queues = nil
		return next, nil
	}, func(press func(string), drawn func() string, _ context.CancelFunc) {
		if first := drawn(); !strings.HasPrefix(first, enter) || !strings.Contains(first, "Queues (30)") {
			t.Errorf("it begins with %q", first)
		}
		time.Sleep(time.Second)
		if second := drawn(); !strings.Contains(second, "Queues (0)") {
			t.Errorf("then it shows %q", second)
		}
		time.Sleep(time.Second)
		if third := drawn(); !strings.Contains(third, "no answer: gone") {
			t.Errorf("without an answer it shows %q", third)
		}
		time.Sleep(time.Second)
		if fourth := drawn(); looks != 3 || strings.Contains(fourth, "no answer") {
			t.Errorf("with one again it shows %q", fourth)
		}
		press("p")
		drawn()
		time.Sleep(time.Minute)
		if paused := drawn(); looks != 3 || paused != "" {
			t.Errorf("it draws %q while it is paused, after %d looks", paused, looks)
		}
		press("q")
	})
}

func TestAnEscapeIsAKeyOnlyIfNothingFollows(t *testing.T) {
	shown(t, func(context.Context) (Snapshot, error) { return busy(), nil }, func(press func(string), drawn func() string, _ context.CancelFunc) {
		press("/29\r")
		if seen := drawn(); !strings.Contains(seen, "filter: 29") {
			t.Errorf("the filter is not shown: %q", seen)
		}
		press("\x1b")
		press("[C")
		if seen := drawn(); !strings.Contains(seen, "▶ Tenants") || !strings.Contains(seen, "filter: 29") {
			t.Errorf("an arrow in two parts is not one: %q", seen)
		}
		press("\x1b")
		time.Sleep(wholeKey)
		if seen := drawn(); !strings.Contains(seen, "Queues (30)") {
			t.Errorf("an escape does not clear the filter: %q", seen)
		}
		press("\x03")
	})
}

func TestAViewEndsWithItsContextEvenWhileItLooks(t *testing.T) {
	shown(t, func(ctx context.Context) (Snapshot, error) {
		<-ctx.Done()
		return Snapshot{}, ctx.Err()
	}, func(_ func(string), drawn func() string, cancel context.CancelFunc) {
		time.Sleep(2 * time.Second)
		drawn()
		cancel()
	})
}

// The end of the input, as with /dev/null, does not end the view.
func TestAViewNeedsNoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		sent := make(chan []byte)
		go read(ctx, strings.NewReader("p"), sent)
		began := time.Now()
		err := show(ctx, newModel(false), func(context.Context) (Snapshot, error) { return busy(), nil }, time.Second, sent, &terminal{out: io.Discard})
		if err != nil || time.Since(began) != time.Minute {
			t.Errorf("it ended after %s: %v", time.Since(began), err)
		}
	})
}
