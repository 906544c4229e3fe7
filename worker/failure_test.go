package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// calls are all calls that a worker makes and whose error decides what becomes of jobs.
var calls = map[string]func(context.Context, *service, *shardBook) error{
	"JoinWorker": func(ctx context.Context, s *service, _ *shardBook) error {
		_, err := s.Join(ctx, fairlead.Node{}, time.Minute)
		return err
	},
	"BeatWorker": func(ctx context.Context, s *service, _ *shardBook) error {
		_, err := s.Beat(ctx, driver.Beat{})
		return err
	},
	"LeaveWorker": func(ctx context.Context, s *service, _ *shardBook) error { return s.Leave(ctx, 1) },
	"LeaseJobs": func(ctx context.Context, s *service, _ *shardBook) error {
		_, err := s.Claim(ctx, driver.Claim{Scope: &driver.Scope{}})
		return err
	},
	"SettleJobs": func(ctx context.Context, s *service, _ *shardBook) error {
		_, err := s.Settle(ctx, []fairlead.Settlement{{ID: 1, Fence: 1, Move: fairlead.Succeed}})
		return err
	},
	"SaveProgress": func(ctx context.Context, s *service, _ *shardBook) error {
		return s.Save(ctx, fairlead.Save{ID: 1, Fence: 1})
	},
	"ListLeases of Held": func(ctx context.Context, s *service, _ *shardBook) error {
		_, err := s.Held(ctx, 1)
		return err
	},
	"ListLeases of Now": func(ctx context.Context, s *service, _ *shardBook) error {
		_, err := s.Now(ctx)
		return err
	},
	"LoadShard": func(ctx context.Context, _ *service, b *shardBook) error {
		_, _, err := b.Load(ctx)
		return err
	},
	"SaveShard": func(ctx context.Context, _ *service, b *shardBook) error {
		_, err := b.Checkpoint(ctx, sweep.Checkpoint{})
		return err
	},
	"ListRetries": func(ctx context.Context, _ *service, b *shardBook) error {
		_, err := b.Retries(ctx, 0, 1)
		return err
	},
	"ListShardItems": func(ctx context.Context, _ *service, b *shardBook) error {
		_, err := b.Items(ctx, 0)
		return err
	},
	"NoteItems of AddLogs": func(ctx context.Context, _ *service, b *shardBook) error {
		return b.AddLogs(ctx, []sweep.Log{{Text: "x"}})
	},
	"NoteItems of Stop": func(ctx context.Context, _ *service, b *shardBook) error { return b.Stop(ctx, "x") },
}

// half is the first half of an answer.
const half = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 100\r\n\r\nhalf"

// hijacked writes a text to the connection of a request and ends the connection: with a
// reset, or as if the answer were complete.
func hijacked(text string, reset bool) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(out).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(text))
		if tcp, ok := conn.(*net.TCPConn); ok && reset {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// answering answers with a status and a body of its own.
func answering(status int, kind, body string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", kind)
		out.WriteHeader(status)
		_, _ = out.Write([]byte(body))
	}
}

// coded answers as a service does that refuses with a code.
func coded(status int, code connect.Code) http.HandlerFunc {
	return answering(status, "application/json", fmt.Sprintf(`{"code":%q,"message":"as the service says"}`, code))
}

// A call that fails without a decision of the service is an ErrUnavailable, whatever code
// connect gives it: a run that is not told otherwise goes on, or runs again.
func TestACallWithoutADecisionOfTheServiceIsUnavailable(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{
		"a reset in the middle of the answer": hijacked(half, true),
		"a reset before the answer":           hijacked("", true),
		"an end in the middle of the answer":  hijacked(half, false),
		"an end before the answer":            hijacked("", false),
		"an end in the middle of the headers": hijacked(half[:30], false),
		"a gateway without a server":          answering(http.StatusBadGateway, "text/html", "<html>"),
		"a gateway that does not find it":     answering(http.StatusNotFound, "text/plain", "default backend"),
		"a gateway that failed":               answering(http.StatusInternalServerError, "text/html", "<html>"),
		"another page in its place":           answering(http.StatusOK, "text/html", "<html>"),
		"a service whose database is away":    coded(http.StatusServiceUnavailable, connect.CodeUnavailable),
		"a service that stops":                coded(499, connect.CodeCanceled),
		"a service that took too long":        coded(http.StatusGatewayTimeout, connect.CodeDeadlineExceeded),
		"a token that is not known just now":  coded(http.StatusUnauthorized, connect.CodeUnauthenticated),
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(broken)
			defer web.Close()
			for method, call := range calls {
				if method == "JoinWorker" && strings.Contains(name, "token") {
					continue // then the worker gives up
				}
				if err := callOf(t.Context(), t, web, time.Minute, call); !errors.Is(err, fairlead.ErrUnavailable) || errors.Is(err, fairlead.ErrLeaseLost) {
					t.Errorf("%s: %v (code %v)", method, err, connect.CodeOf(err))
				}
			}
		})
	}
}

// HTTP/2 ends single calls and announces the end of the connection.
func TestACallThatHTTP2BreaksOffIsUnavailable(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{
		"before the answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"in the middle of the answer": func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "application/proto")
			_, _ = out.Write([]byte("half"))
			_ = http.NewResponseController(out).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewUnstartedServer(broken)
			web.EnableHTTP2 = true
			web.StartTLS()
			defer web.Close()
			for method, call := range calls {
				if err := callOf(t.Context(), t, web, time.Minute, call); !errors.Is(err, fairlead.ErrUnavailable) {
					t.Errorf("%s: %v (code %v)", method, err, connect.CodeOf(err))
				}
			}
		})
	}
}

// A service that does not answer within the worker's lease is unavailable. Beats and
// claims have no bound of their own: the node bounds them.
func TestACallWithoutAnAnswerIsUnavailable(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
		_, _ = bufio.NewReader(in.Body).ReadByte()
		<-in.Context().Done()
	}))
	defer web.Close()
	for method, call := range calls {
		if method == "BeatWorker" || method == "LeaseJobs" || method == "LeaveWorker" {
			continue
		}
		if err := callOf(t.Context(), t, web, 20*time.Millisecond, call); !errors.Is(err, fairlead.ErrUnavailable) {
			t.Errorf("%s: %v (code %v)", method, err, connect.CodeOf(err))
		}
	}
}

// The caller's own context tells that the caller cancelled, not a code.
func TestACallThatTheCallerCancelledIsNotUnavailable(t *testing.T) {
	web := httptest.NewServer(hijacked(half, true))
	defer web.Close()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for method, call := range calls {
		if err := callOf(cancelled, t, web, time.Minute, call); err == nil || errors.Is(err, fairlead.ErrUnavailable) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// What the service decides stays decided.
func TestADecisionOfTheServiceIsNotUnavailable(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		isLost bool
	}{
		{"not the worker any more", coded(http.StatusConflict, connect.CodeAborted), true},
		{"another session", coded(http.StatusForbidden, connect.CodePermissionDenied), true},
		{"what it sent is wrong", coded(http.StatusBadRequest, connect.CodeInvalidArgument), false},
		{"what it sent is too large", coded(http.StatusTooManyRequests, connect.CodeResourceExhausted), false},
		{"too large for a proxy", answering(http.StatusRequestEntityTooLarge, "text/html", "<html>"), false},
		{"a bug of the service", coded(http.StatusInternalServerError, connect.CodeInternal), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := httptest.NewServer(c.answer)
			defer web.Close()
			err := callOf(t.Context(), t, web, time.Minute, calls["SaveProgress"])
			if err == nil || errors.Is(err, fairlead.ErrUnavailable) || errors.Is(err, fairlead.ErrLeaseLost) != c.isLost {
				t.Errorf("it is %v", err)
			}
		})
	}
}

// A message that cannot be sent will never be: to try it again for ever would hide the job.
func TestAMessageThatCannotBeSentIsNotUnavailable(t *testing.T) {
	web := httptest.NewServer(coded(http.StatusServiceUnavailable, connect.CodeUnavailable))
	defer web.Close()
	err := callOf(t.Context(), t, web, time.Minute, func(ctx context.Context, _ *service, b *shardBook) error {
		return b.Stop(ctx, "\xff")
	})
	if err == nil || errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it is %v", err)
	}
}

// callOf makes one call of a worker whose lease is that long.
func callOf(ctx context.Context, t *testing.T, web *httptest.Server, lease time.Duration, call func(context.Context, *service, *shardBook) error) error {
	t.Helper()
	s := &service{
		client: fairleadv1connect.NewWorkerServiceClient(web.Client(), web.URL),
		lease:  lease, mux: fairlead.NewMux(), giveUp: func(error) { t.Error("the worker gives up") },
	}
	return call(ctx, s, &shardBook{service: s, job: &fairlead.Job{}})
}
