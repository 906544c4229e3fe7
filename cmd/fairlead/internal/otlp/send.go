package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Retries of a batch, with the values of OpenTelemetry's exporter: the wait doubles and has
// jitter, so that many nodes do not retry at the same time.
const (
	firstWait   = 5 * time.Second
	longestWait = 30 * time.Second
	longestTry  = time.Minute // in total; meanwhile, later spans wait in memory
)

const (
	contentType = "application/x-protobuf"
	maxAnswer   = 64 << 10 // bytes read of a response
	maxReason   = 500      // bytes of a response shown in errors
)

// passingError is the error of a request that may be retried.
type passingError struct {
	err   error
	after time.Duration // minimum delay; 0 if the collector does not specify one
}

func (e *passingError) Error() string { return e.err.Error() }
func (e *passingError) Unwrap() error { return e.err }

// repeat calls send until it succeeds or fails permanently.
func (e *Exporter) repeat(ctx context.Context, send func() error) error {
	began, wait := time.Now(), firstWait
	for {
		err := send()
		var passing *passingError
		if !errors.As(err, &passing) || ctx.Err() != nil {
			return err
		}
		pause := max(wait/2+rand.N(wait), passing.after) //nolint:gosec // it spreads requests
		if time.Since(began)+pause > longestTry {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-e.ended:
			timer.Stop()
			return err
		}
		wait = min(2*wait, longestWait)
	}
}

// send makes one request.
func (e *Exporter) send(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.options.URL.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL of the collector is invalid") // the URL may contain a key
	}
	request.Header.Set("User-Agent", "fairlead")
	for name, value := range e.options.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", contentType)
	if e.options.Gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := e.web.Do(request)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // the rest of the message is the URL
		}
		return &passingError{err: fmt.Errorf("send spans to %s: %w", e.options.URL.Host, err)}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read response from %s: %w", e.options.URL.Host, err)
	}
	encoded := strings.HasPrefix(response.Header.Get("Content-Type"), contentType)
	if response.StatusCode/100 == 2 {
		if encoded {
			return refusedSpans(answer)
		}
		return nil
	}
	err = fmt.Errorf("%s responded with %s%s", e.options.URL.Host, response.Status, reason(answer, encoded))
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &passingError{err, retryAfter(response.Header.Get("Retry-After"), time.Now())}
	}
	return err
}

// packed returns a body in the form to send.
func (e *Exporter) packed(body []byte) ([]byte, error) {
	if !e.options.Gzip {
		return body, nil
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(body)
	if err := errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("compress spans: %w", err)
	}
	return packed.Bytes(), nil
}

// retryAfter returns the wait that the collector requests, in seconds or as a time.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), 1e6)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// refusedSpans returns an error if an ExportTraceServiceResponse says that some spans were
// rejected. These spans are lost, because they must not be sent again.
func refusedSpans(answer []byte) error {
	partial, _ := field(answer, 1)
	_, refused := field(partial, 1)
	text, _ := field(partial, 2)
	if refused == 0 && len(text) == 0 {
		return nil
	}
	return fmt.Errorf("the collector rejected %d spans: %s", refused, text)
}

// reason returns a collector's description of a failure: the message of a
// google.rpc.Status, or the beginning of a text.
func reason(answer []byte, encoded bool) string {
	if encoded {
		answer, _ = field(answer, 2)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(answer[:min(len(answer), maxReason)]), ""))
	if text == "" {
		return ""
	}
	return ": " + text
}

// field returns the bytes or the number of a field in a protobuf message. It returns
// nothing if the message is malformed.
func field(message []byte, wanted protowire.Number) (text []byte, number uint64) {
	for len(message) > 0 {
		found, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0
		}
		message = message[size:]
		size = protowire.ConsumeFieldValue(found, kind, message)
		if size < 0 {
			return nil, 0
		}
		if found == wanted {
			switch kind {
			case protowire.BytesType:
				text, _ = protowire.ConsumeBytes(message)
			case protowire.VarintType:
				number, _ = protowire.ConsumeVarint(message)
			}
		}
		message = message[size:]
	}
	return text, number
}
