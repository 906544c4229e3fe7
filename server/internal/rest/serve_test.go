package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// handlerOf serves the methods of the schema after changing one of them.
func handlerOf(t testing.TB, log io.Writer, name string, change func(*rest.Endpoint)) http.Handler {
	t.Helper()
	routes := echoes(t)
	for _, route := range routes {
		if string(route.Method.Name()) == name {
			change(route.Endpoint)
		}
	}
	admit := func(context.Context, *rest.Endpoint) error { return nil }
	return (&rest.Server{Routes: routes, Log: slog.New(slog.NewTextHandler(log, nil)), Admit: admit}).Handler()
}

// watching returns a handler whose WatchJob stream is provided by the test.
func watching(t testing.TB, log io.Writer, stream func(ctx context.Context, send func(proto.Message) error) error) http.Handler {
	return handlerOf(t, log, "WatchJob", func(e *rest.Endpoint) {
		e.Stream = func(ctx context.Context, _ proto.Message, send func(proto.Message) error) error {
			return stream(ctx, send)
		}
	})
}

func answerTo(t testing.TB, handler http.Handler, verb, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), verb, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestAStreamIsAnsweredAsServerSentEvents(t *testing.T) {
	job := &fairleadv1.Job{Id: 7, State: "ready"}
	const event = "data: {\"id\":\"7\",\"state\":\"ready\"}\n\n"
	broken := errors.New("disk on fire")
	for name, c := range map[string]struct {
		stream   func(ctx context.Context, send func(proto.Message) error) error
		status   int
		kind     string
		body     string // expected beginning
		isLogged bool
	}{
		"two events": {
			func(_ context.Context, send func(proto.Message) error) error {
				return errors.Join(send(job), send(job))
			},
			200, "text/event-stream", event + event, false,
		},
		"none, which is an answer too": {
			func(context.Context, func(proto.Message) error) error { return nil },
			200, "text/event-stream", "", false,
		},
		"a refusal instead of events": {
			func(context.Context, func(proto.Message) error) error { return fairlead.ErrNotFound },
			404, "application/problem+json", `{"type":"about:blank","title":"Not Found","status":404`, false,
		},
		"a failure instead of events": {
			func(context.Context, func(proto.Message) error) error { return broken },
			500, "application/problem+json", `{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"internal error; see the server log"}`, true,
		},
		"a refusal after an event": {
			func(_ context.Context, send func(proto.Message) error) error {
				return errors.Join(send(job), fairlead.ErrLeaseLost)
			},
			200, "text/event-stream", event + "event: error\ndata: {\"type\":\"about:blank\",\"title\":\"Conflict\",\"status\":409", false,
		},
		"a failure after an event": {
			func(_ context.Context, send func(proto.Message) error) error { return errors.Join(send(job), broken) },
			200, "text/event-stream", event + "event: error\ndata: {\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500,\"detail\":\"internal error; see the server log\"}\n\n", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			answer := answerTo(t, watching(t, &log, c.stream), "GET", "/api/v1/jobs/7/watch", "")
			if answer.Code != c.status || answer.Header().Get("Content-Type") != c.kind || answer.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("answered with %d, %v", answer.Code, answer.Header())
			}
			if body := answer.Body.String(); !strings.HasPrefix(body, c.body) || c.body == "" && body != "" {
				t.Errorf("answered with %s\nwant          %s", body, c.body)
			}
			if isLogged := strings.Contains(log.String(), "disk on fire"); isLogged != c.isLogged {
				t.Errorf("the log is %q", log.String())
			}
		})
	}
}

// leavingCaller is a caller that has disconnected: writes to it fail.
type leavingCaller struct{ *httptest.ResponseRecorder }

func (leavingCaller) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestAStreamEndsWithItsCaller(t *testing.T) {
	var told error
	handler := watching(t, io.Discard, func(ctx context.Context, send func(proto.Message) error) error {
		for told == nil {
			told = send(&fairleadv1.Job{})
		}
		return ctx.Err()
	})
	handler.ServeHTTP(leavingCaller{httptest.NewRecorder()}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/jobs/7/watch", nil))
	if !errors.Is(told, context.Canceled) {
		t.Errorf("who sends is told %v", told)
	}
}

// Callers and intermediaries would consider an idle stream dead.
func TestAStreamOfWhichNothingComesHasHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := watching(t, io.Discard, func(context.Context, func(proto.Message) error) error {
			time.Sleep(time.Minute) // on the bubble's clock
			return nil
		})
		answer := answerTo(t, handler, "GET", "/api/v1/jobs/7/watch", "")
		if body := answer.Body.String(); !strings.HasPrefix(body, ":\n\n:\n\n:\n\n") || strings.Trim(body, ":\n") != "" {
			t.Errorf("a minute of nothing is %q", body)
		}
	})
}

func TestALargeAnswerIsPackedForWhoUnderstandsIt(t *testing.T) {
	text := strings.Repeat("x", 5000)
	for _, c := range []struct {
		kind, accepts string
		isPacked      bool
	}{{text, "gzip, br", true}, {text, "", false}, {"small", "gzip", false}} {
		handler := handlerOf(t, io.Discard, "GetJob", func(e *rest.Endpoint) {
			e.Call = func(context.Context, proto.Message) (proto.Message, error) { return &fairleadv1.Job{Kind: c.kind}, nil }
		})
		answer := answerTo(t, handler, "GET", "/api/v1/jobs/7", "", "Accept-Encoding", c.accepts)
		var body io.Reader = answer.Body
		header := answer.Header()
		if isPacked := header.Get("Content-Encoding") == "gzip"; isPacked != c.isPacked || isPacked != (header.Get("Vary") == "Accept-Encoding") {
			t.Errorf("%d bytes for %q are answered with %v", len(c.kind), c.accepts, header)
		}
		if c.isPacked {
			unpacked, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(err)
			}
			body = unpacked
		}
		var job struct{ Kind string }
		if err := json.NewDecoder(body).Decode(&job); err != nil || job.Kind != c.kind {
			t.Errorf("%d bytes came as %d (%v)", len(c.kind), len(job.Kind), err)
		}
		if header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("answered with %v", header)
		}
	}
}

func TestACallerThatHasGoneIsNotWorthALineOfTheLog(t *testing.T) {
	var log bytes.Buffer
	ctx, leave := context.WithCancel(t.Context())
	handler := handlerOf(t, &log, "GetJob", func(e *rest.Endpoint) {
		e.Call = func(ctx context.Context, _ proto.Message) (proto.Message, error) {
			leave()
			return nil, ctx.Err()
		}
	})
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/jobs/7", nil))
	if log.Len() != 0 {
		t.Errorf("the log is %s", log.String())
	}
}

// Callers learn nothing about errors that they cannot distinguish, and the log contains all
// details. Mistakes of callers are not logged.
func TestWhatCallersDoNotSeeIsLogged(t *testing.T) {
	for _, c := range []struct {
		err      error
		status   int
		isLogged bool
	}{
		{errors.New("disk on fire"), 500, true},
		{fmt.Errorf("disk on fire: %w", fairlead.ErrUnavailable), 503, true},
		{fmt.Errorf("disk on fire: %w", fairlead.ErrConflict), 409, false},
	} {
		var log bytes.Buffer
		handler := handlerOf(t, &log, "GetJob", func(e *rest.Endpoint) {
			e.Call = func(context.Context, proto.Message) (proto.Message, error) { return nil, c.err }
		})
		answer := answerTo(t, handler, "GET", "/api/v1/jobs/7", "")
		isLogged, isTold := strings.Contains(log.String(), "disk on fire"), strings.Contains(answer.Body.String(), "disk on fire")
		if answer.Code != c.status || isLogged != c.isLogged || isTold == c.isLogged {
			t.Errorf("%v: answered with %d %s, logged as %q", c.err, answer.Code, answer.Body, log.String())
		}
		if isLater := answer.Header().Get("Retry-After") != ""; isLater != (c.status == 503) {
			t.Errorf("%v: answered with %v", c.err, answer.Header())
		}
	}
}

func TestAConflictIsAFailedPreconditionForWhoNamesAVersion(t *testing.T) {
	var asked int64
	handler := handlerOf(t, io.Discard, "UpdateTenant", func(e *rest.Endpoint) {
		e.Call = func(_ context.Context, request proto.Message) (proto.Message, error) {
			asked = request.(*fairleadv1.Tenant).GetVersion()
			return nil, fairlead.ErrConflict
		}
	})
	for match, want := range map[string]struct {
		status  int
		version int64
	}{"": {409, 0}, `"3"`: {412, 3}, "3": {412, 3}, `"three"`: {412, 0}} {
		asked = 0
		answer := answerTo(t, handler, "PUT", "/api/v1/tenants/acme", "{}", "If-Match", match)
		if answer.Code != want.status || asked != want.version {
			t.Errorf("If-Match %s: version %d is answered with %d", match, asked, answer.Code)
		}
	}
}

// A worker also has a version. It is a string and not the version of a stored object.
func TestAVersionThatIsATextIsNotMatched(t *testing.T) {
	answer := answerTo(t, handlerOf(t, io.Discard, "", nil), "POST", "/api/v1/workers", `{"kinds":["k"],"version":"1"}`, "If-Match", `"3"`)
	if answer.Code != 200 || answer.Header().Get("ETag") != "" {
		t.Errorf("answered with %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
}

func TestWhatIsPossibleElsewhereIsNamed(t *testing.T) {
	handler := handlerOf(t, io.Discard, "", nil)
	answer := answerTo(t, handler, "PATCH", "/api/v1/jobs", "{}")
	if answer.Code != 405 || answer.Header().Get("Allow") != "GET, POST" || !strings.Contains(answer.Body.String(), "use GET or POST") {
		t.Errorf("answered with %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	if answer := answerTo(t, handler, "GET", "/api/v1/nothing", ""); answer.Code != 404 || answer.Header().Get("Allow") != "" {
		t.Errorf("answered with %d %v", answer.Code, answer.Header())
	}
}

func TestABodyIsTakenAsItIsOrPackedAndUpToABound(t *testing.T) {
	pack := func(text string) string {
		var packed bytes.Buffer
		packer := gzip.NewWriter(&packed)
		fmt.Fprint(packer, text)
		if err := packer.Close(); err != nil {
			t.Fatal(err)
		}
		return packed.String()
	}
	spaces := func(size int) string { return "{}" + strings.Repeat(" ", size-2) }
	for name, c := range map[string]struct {
		body, kind, encoding string
		status               int
	}{
		"plain":               {`{"jobs":[{"kind":"k"}]}`, "application/json; charset=utf-8", "", 200},
		"as curl has it":      {`{"jobs":[{"kind":"k"}]}`, "application/x-www-form-urlencoded", "identity", 200},
		"packed":              {pack(`{"jobs":[{"kind":"k"}]}`), "", "gzip", 200},
		"not packed":          {`{}`, "", "gzip", 400},
		"packed and cut off":  {pack(`{"jobs":[{"kind":"k"}]}`)[:20], "", "gzip", 400},
		"packed otherwise":    {`{}`, "", "br", 415},
		"another kind":        {`{}`, "text/xml", "", 415},
		"as large as may be":  {spaces(rest.MaxBody), "", "", 400}, // contains no jobs
		"too large":           {spaces(rest.MaxBody + 1), "", "", 413},
		"too large, unpacked": {pack(spaces(rest.MaxBody + 1)), "", "gzip", 413},
	} {
		t.Run(name, func(t *testing.T) {
			handler := handlerOf(t, io.Discard, "", nil)
			answer := answerTo(t, handler, "POST", "/api/v1/jobs", c.body, "Content-Type", c.kind, "Content-Encoding", c.encoding)
			if answer.Code != c.status {
				t.Errorf("answered with %d, want %d: %.200s", answer.Code, c.status, answer.Body)
			}
		})
	}
}
