package overload

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func TestABodyReservesWhatItMayBecome(t *testing.T) {
	const unknown, limit = -1, 16 << 20
	for _, c := range []struct {
		length, read, more int64
		packed             bool
		want               int64
	}{
		{unknown, 0, 512, false, 0},
		{unknown, SmallBody - 512, 512, false, 0},
		{unknown, SmallBody - 512, 513, false, middleBody},
		{unknown, middleBody - 512, 512, false, middleBody},
		{unknown, middleBody - 512, 513, false, limit},
		{SmallBody, 0, 512, false, 0},
		{SmallBody + 1, 0, 512, false, SmallBody + 1},
		{limit, 0, 512, false, limit},
		{limit + 1, 0, 512, false, limit},
		{100, 0, 1 << 20, false, 0},
		{unknown, 0, 10, true, limit},
		{10, 0, 1 << 20, true, limit},
		{1 << 20, 0, 1 << 20, true, limit},
	} {
		b := &sharedBody{length: c.length, read: c.read, packed: c.packed, limit: limit}
		if got := b.needed(c.more); got != c.want {
			t.Errorf("%+v: it needs %d", c, got)
		}
	}
}

// A body of a few hundred kilobytes can have so many messages that they take a hundred times
// as much once it is decoded.
func TestABodyReservesWhatItsMessagesTake(t *testing.T) {
	const limit = 16 << 20
	for name, c := range map[string]struct {
		body         string
		binary, paid bool
		want         int64
	}{
		"few messages":              {`{"jobs":[{"kind":"noop"},{"kind":"noop"}]}`, false, false, 0},
		"many messages":             {strings.Repeat(`{},`, 1000), false, false, 3000 + 1000*(messageMemory+entryMemory)},
		"very many messages":        {strings.Repeat(`{},`, 100_000), false, false, limit},
		"many strings":              {strings.Repeat(`"",`, 10_000), false, false, 30_000 + 10_000*entryMemory},
		"many messages in protobuf": {strings.Repeat("\x0a\x00", 5000), true, false, 10_000 * (1 + binaryMemory)},
		"many messages of a form":   {strings.Repeat(`{},`, 1000), false, true, 1000 * (messageMemory + entryMemory)},
	} {
		t.Run(name, func(t *testing.T) {
			memory := semaphore.NewWeighted(largeBodies)
			body := &sharedBody{
				ReadCloser: io.NopCloser(strings.NewReader(c.body)), ctx: t.Context(), memory: memory,
				length: int64(len(c.body)), limit: limit, decoded: true, binary: c.binary, paid: c.paid,
			}
			if n, err := io.Copy(io.Discard, body); err != nil || n != int64(len(c.body)) {
				t.Fatalf("%d bytes are read: %v", n, err)
			}
			if got := taken(memory); got != c.want {
				t.Errorf("%d bytes are reserved, want %d", got, c.want)
			}
			body.keep(0)
		})
	}
}

func TestAMessageKeepsWhatItTakes(t *testing.T) {
	ctx, body, memory := shareOf(t, 2<<20)
	body.share = 0 // the share of its bytes
	memory.Release(2 << 20)
	if err := body.acquire(16 << 20); err != nil {
		t.Fatal(err)
	}
	request := &fairleadv1.EnqueueJobsRequest{}
	for range 1000 {
		request.Jobs = append(request.Jobs, &fairleadv1.NewJob{Timeout: durationpb.New(time.Second)})
	}
	SettleBody(ctx, request)
	if got, least := taken(memory), int64(2*1000*messageMemory); got < least || got > least+1000*20 {
		t.Errorf("%d bytes are kept, want %d and the bytes of the message", got, least)
	}
	body.keep(0)
}

// shareOf reads a body of the given size, and returns it with the memory that it has a
// share of.
func shareOf(t *testing.T, size int) (context.Context, *sharedBody, *semaphore.Weighted) {
	t.Helper()
	memory := semaphore.NewWeighted(largeBodies)
	body := &sharedBody{
		ReadCloser: io.NopCloser(bytes.NewReader(make([]byte, size))), ctx: t.Context(), memory: memory, length: int64(size), limit: 16 << 20,
	}
	if n, err := io.Copy(io.Discard, body); err != nil || n != int64(size) {
		t.Fatalf("%d of %d bytes are read: %v", n, size, err)
	}
	return context.WithValue(t.Context(), sharedBodyKey{}, body), body, memory
}

// taken returns the amount of memory in use.
func taken(memory *semaphore.Weighted) (bytes int64) {
	for step := int64(largeBodies); step > 0; step /= 2 {
		for memory.TryAcquire(step) {
			bytes += step
		}
	}
	memory.Release(bytes)
	return largeBodies - bytes
}

func TestWhatAMessageDoesNotNeedIsGivenBackBeforeItsCall(t *testing.T) {
	for name, c := range map[string]struct{ message, want int }{
		"a small one": {10, 0}, "a large one": {SmallBody + 1, SmallBody + 5}, "one that became larger": {4 << 20, 2 << 20},
	} {
		ctx, body, memory := shareOf(t, 2<<20)
		if got := taken(memory); got != 2<<20 {
			t.Errorf("%s: %d bytes are reserved", name, got)
		}
		SettleBody(ctx, &fairleadv1.QueueRequest{Name: strings.Repeat("x", c.message)})
		if got := taken(memory); got != int64(c.want) {
			t.Errorf("%s: %d bytes are kept, want %d", name, got, c.want)
		}
		body.keep(0)
		if got := taken(memory); got != 0 {
			t.Errorf("%s: %d bytes are never given back", name, got)
		}
	}
	SettleBody(t.Context(), &fairleadv1.QueueRequest{}) // of a request without a body
}

func TestABodyWithoutMemoryIsNotRead(t *testing.T) {
	_, body, memory := shareOf(t, 2<<20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := &sharedBody{ReadCloser: io.NopCloser(strings.NewReader("x")), ctx: ctx, memory: memory, length: largeBodies, limit: largeBodies}
	if _, err := late.Read(make([]byte, 10)); !errors.Is(err, errManyLarge) {
		t.Errorf("got %v", err)
	}
	body.keep(0)
}
