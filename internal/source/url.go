package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

// URL returns the lines at an http or https URL. It sends requests with options.Client. It
// reads blocks if the server supports range requests. Otherwise, every read that does not
// continue the previous one starts over at the beginning.
func URL(address string, options Options) (*Lines, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("source: url is invalid; use the form https://host/path")
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return nil, errors.New("source: url must begin with http:// or https:// and name a host")
	}
	if options.Client == nil {
		return nil, errors.New("source: URLs are not supported: no HTTP client is configured")
	}
	// The query and the user info may be secret.
	name := (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
	open := func() blob {
		return &remote{client: options.Client, address: address, timeout: options.Timeout}
	}
	return &Lines{name: name, options: options, open: open}, nil
}

// remote is the blob at a URL.
type remote struct {
	client  *http.Client
	address string
	timeout time.Duration

	expected *identity
	stream   *stream // for a server without ranges
}

func (b *remote) expect(content identity) { b.expected = &content }
func (b *remote) blockSize() int          { return 1 << 20 }

func (b *remote) close() {
	if b.stream != nil {
		b.stream.close()
		b.stream = nil
	}
}

func (b *remote) identify(ctx context.Context) (identity, error) {
	var is identity
	err := b.try(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, b.timeout)
		defer cancel()
		answer, err := b.get(ctx, http.Header{"Range": {"bytes=0-0"}})
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		is, err = identityOf(answer)
		return err
	})
	return is, err
}

// get sends a request. Its errors do not contain the URL.
func (b *remote) get(ctx context.Context, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.address, http.NoBody)
	if err != nil {
		return nil, errors.New("the URL is not valid")
	}
	request.Header = header
	request.Header.Set("Accept-Encoding", "identity") // offsets refer to the uncompressed content
	answer, err := b.client.Do(request)
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	err = outbound.Reason(err)
	if errors.Is(err, io.EOF) { // callers interpret io.EOF as the end of the lines
		err = fmt.Errorf("the server closed the connection: %w", errPassing)
	}
	return answer, err
}

// errPassing marks a response as a transient failure.
var errPassing = errors.New("try again")

// identityOf returns the identity from the headers of a response to a range request.
func identityOf(answer *http.Response) (identity, error) {
	is := identity{Size: answer.ContentLength, ETag: answer.Header.Get("ETag"), Modified: answer.Header.Get("Last-Modified")}
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
	case code == http.StatusPartialContent:
		is.Ranges = true
		_, size, err := contentRange(answer)
		if err != nil {
			return is, err
		}
		is.Size = size
	case code == http.StatusRequestedRangeNotSatisfiable && answer.Header.Get("Content-Range") == "bytes */0":
		is.Size = 0
	case code == http.StatusPreconditionFailed:
		return is, fmt.Errorf("%w, as reported by the server; restore it or start a new sweep", ErrChanged)
	case code >= 500 || code == http.StatusTooManyRequests:
		return is, fmt.Errorf("the server responded with %s: %w", answer.Status, errPassing)
	default:
		return is, fmt.Errorf("the server responded with %s", answer.Status)
	}
	if encoding := answer.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return is, fmt.Errorf("the response has the content encoding %q; the server must send it unencoded", encoding)
	}
	return is, nil
}

// contentRange parses a header such as "bytes 0-9/100".
func contentRange(answer *http.Response) (start, size int64, err error) {
	text := answer.Header.Get("Content-Range")
	span, total, ok := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	first, _, dash := strings.Cut(span, "-")
	start, startErr := strconv.ParseInt(first, 10, 64)
	size, sizeErr := strconv.ParseInt(total, 10, 64)
	if !ok || !dash || startErr != nil || sizeErr != nil || start < 0 || size < 0 {
		return 0, 0, fmt.Errorf("the server sent a partial response with Content-Range %q, which does not specify the range", text)
	}
	return start, size, nil
}

func (b *remote) readAt(ctx context.Context, p []byte, offset int64) (n int, err error) {
	err = b.try(ctx, func() error {
		if b.expected.Ranges {
			n, err = b.readRange(ctx, p, offset)
		} else {
			n, err = b.readStream(ctx, p, offset)
		}
		return err
	})
	return n, err
}

// readRange requests a range of the content. It returns ErrChanged if the content has
// changed.
func (b *remote) readRange(ctx context.Context, p []byte, offset int64) (int, error) {
	want := min(int64(len(p)), b.expected.Size-offset)
	if want <= 0 {
		return 0, io.EOF
	}
	header := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+want-1)}}
	if validator := b.expected.validator(); validator != "" {
		header.Set("If-Range", validator)
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	answer, err := b.get(ctx, header)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	is, err := identityOf(answer)
	if err != nil {
		return 0, err
	}
	if err := b.expected.mustBe(is); err != nil {
		return 0, err
	}
	if !is.Ranges {
		return 0, fmt.Errorf("%w: the server sent the whole content instead of the requested range; restore it or start a new sweep", ErrChanged)
	}
	if start, _, err := contentRange(answer); err != nil || start != offset {
		return 0, fmt.Errorf("the server sent a range other than the requested one: %w", errPassing)
	}
	n, err := io.ReadFull(answer.Body, p[:want])
	if err != nil {
		return 0, fmt.Errorf("the response ended after %d of %d bytes (%s): %w", n, want, outbound.Reason(err).Error(), errPassing) // not an EOF: the lines have not ended
	}
	if offset+want == b.expected.Size {
		return n, io.EOF
	}
	return n, nil
}

// validator returns a value allowed in If-Range: a strong ETag, or a date.
func (i identity) validator() string {
	if i.ETag != "" && !strings.HasPrefix(i.ETag, "W/") {
		return i.ETag
	}
	return i.Modified
}

// Number of tries of a call, and the pause after the first.
const (
	tries = 4
	pause = 250 * time.Millisecond
)

// try repeats a call that fails because of a transient network or server error.
func (b *remote) try(ctx context.Context, call func() error) error {
	for i := 1; ; i++ {
		err := call()
		if err == nil || ctx.Err() != nil || i == tries || !passing(err) {
			return err
		}
		timer := time.NewTimer(pause << (i - 1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func passing(err error) bool {
	var network interface{ Timeout() bool }
	return errors.Is(err, errPassing) || errors.As(err, &network)
}
