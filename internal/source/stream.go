package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

// stream is an HTTP response read from start to end, from a server that does not support
// ranges.
type stream struct {
	answer  *http.Response
	cancel  context.CancelFunc
	timeout time.Duration
	at      int64
}

// readStream continues the stream, or restarts it if the offset is before the current
// position.
func (b *remote) readStream(ctx context.Context, p []byte, offset int64) (int, error) {
	if b.stream == nil || b.stream.at > offset {
		b.close()
		s, err := b.openStream(ctx)
		if err != nil {
			return 0, err
		}
		b.stream = s
	}
	n, err := b.stream.readAt(ctx, p, offset)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		if size := b.expected.Size; size >= 0 && b.stream.at != size {
			return 0, fmt.Errorf("%w: its size was %d bytes and is now %d; restore it or start a new sweep", ErrChanged, size, b.stream.at)
		}
		return n, io.EOF
	}
	at := b.stream.at
	b.close() // the rest of it is useless
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return 0, fmt.Errorf("the connection was closed after %d bytes of the response (%s): %w", at, outbound.Reason(err).Error(), errPassing)
}

// openStream requests a response that stays open after the call that requested it.
func (b *remote) openStream(ctx context.Context) (*stream, error) {
	living, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)()
	defer time.AfterFunc(b.timeout, cancel).Stop()
	header := http.Header{}
	if b.expected.ETag != "" && b.expected.validator() == b.expected.ETag {
		header.Set("If-Match", b.expected.ETag)
	}
	answer, err := b.get(living, header) //nolint:bodyclose // the stream closes it
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{answer: answer, cancel: cancel, timeout: b.timeout}
	is, err := identityOf(answer)
	if err == nil {
		err = b.expected.mustBe(is)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// readAt skips data before the offset. It closes the stream if the context ends or no data
// arrives within the timeout.
func (s *stream) readAt(ctx context.Context, p []byte, offset int64) (int, error) {
	defer context.AfterFunc(ctx, s.cancel)()
	watch := time.AfterFunc(s.timeout, s.cancel)
	defer watch.Stop()
	for s.at < offset {
		n, err := s.answer.Body.Read(p[:min(int64(len(p)), offset-s.at)])
		s.at += int64(n)
		if err != nil && s.at < offset {
			return 0, err
		}
		watch.Reset(s.timeout)
	}
	for n := 0; ; {
		more, err := s.answer.Body.Read(p[n:])
		n += more
		s.at += int64(more)
		if err != nil || n == len(p) {
			return n, err
		}
		watch.Reset(s.timeout)
	}
}

func (s *stream) close() {
	s.cancel()
	_ = s.answer.Body.Close()
}
