package tracing_test

import (
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
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/tracing"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
	caller      = "00-" + callerTrace + "-" + callerSpan + "-01"
)

// recorder keeps the spans that end.
func recorder(t *testing.T) (*tracetest.InMemoryExporter, trace.TracerProvider) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	t.Cleanup(func() {
		if err := provider.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return exporter, provider
}

// service serves a store with its API and a node that makes HTTP calls.
func service(t *testing.T, provider trace.TracerProvider) (client *fairlead.Client, url string) {
	t.Helper()
	store := sqlitetest.Open(t)
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	mux := fairlead.NewMux()
	httpcall.New(httpcall.Options{Guard: guard}).Register(mux)
	if provider != nil {
		mux.Use(tracing.Middleware(provider))
	}
	node, err := engine.New(store, mux, engine.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(node, store, server.Options{Log: log, Traces: provider})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		web.Close()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return fairlead.NewClient(store), web.URL
}

// post enqueues a job over the API and waits for its end.
func post(t *testing.T, client *fairlead.Client, url, job string) *fairlead.Job {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/jobs", strings.NewReader(`{"jobs":[`+job+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Traceparent", caller)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var stored struct{ IDs []json.Number }
	if err := json.NewDecoder(response.Body).Decode(&stored); err != nil || len(stored.IDs) != 1 {
		t.Fatalf("%d: %v %v", response.StatusCode, stored, err)
	}
	id, err := stored.IDs[0].Int64()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	done, err := client.Wait(ctx, id)
	if err != nil || done.State != fairlead.Succeeded {
		t.Fatalf("%v %+v", err, done)
	}
	return done
}

func TestARequestItsJobAndWhatThatCallsAreOneTrace(t *testing.T) {
	told := make(chan string, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("Traceparent") }))
	defer target.Close()
	exporter, provider := recorder(t)
	client, url := service(t, provider)
	job := post(t, client, url, fmt.Sprintf(`{"kind":"http","tenant":"acme","args":{"url":%q}}`, target.URL+"/hook?token=secret"))

	spans := map[string]tracetest.SpanStub{}
	for _, span := range exporter.GetSpans() {
		spans[span.Name] = span
	}
	parent := callerSpan
	for _, name := range []string{"enqueue", "run http", "POST"} {
		span, there := spans[name]
		if !there || span.SpanContext.TraceID().String() != callerTrace || span.Parent.SpanID().String() != parent {
			t.Fatalf("%s is not below span %s of the trace: %+v", name, parent, spans)
		}
		if strings.Contains(fmt.Sprint(span.Attributes, span.Status), "secret") {
			t.Errorf("%s tells the secret of a URL: %v", name, span.Attributes)
		}
		parent = span.SpanContext.SpanID().String()
	}
	if got, want := <-told, "00-"+callerTrace+"-"+parent+"-01"; got != want {
		t.Errorf("the target was told %s, want %s", got, want)
	}
	if want := "00-" + callerTrace + "-" + spans["enqueue"].SpanContext.SpanID().String() + "-01"; job.Trace != want {
		t.Errorf("with the job is stored %s, want %s", job.Trace, want)
	}
	run := attribute.NewSet(spans["run http"].Attributes...)
	for key, want := range map[attribute.Key]string{
		"fairlead.job.id": fmt.Sprint(job.ID), "fairlead.job.kind": "http", "fairlead.job.queue": "default",
		"fairlead.job.tenant": "acme", "fairlead.job.attempt": "1", "fairlead.job.outcome": "succeeded",
	} {
		if got, _ := run.Value(key); got.String() != want {
			t.Errorf("%s is %q, want %q", key, got.String(), want)
		}
	}
	if events := spans["run http"].Events; len(events) != 1 || events[0].Name != "claimed" || !events[0].Time.Equal(job.StartedAt) {
		t.Errorf("events of the run are %+v", events)
	}
}

func TestWithoutAnExporterTheCallersTraceStillReachesTheTarget(t *testing.T) {
	told := make(chan string, 2)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("Traceparent") }))
	defer target.Close()
	client, url := service(t, nil)
	args := fmt.Sprintf(`"kind":"http","args":{"url":%q}`, target.URL)
	if job := post(t, client, url, "{"+args+"}"); job.Trace != caller || <-told != caller {
		t.Errorf("with the job is stored %q", job.Trace)
	}
	own := strings.Replace(caller, "4bf9", "aaaa", 1)
	if job := post(t, client, url, "{"+args+`,"trace":"`+own+`"}`); job.Trace != own || <-told != own {
		t.Errorf("the trace of a job was replaced by %q", job.Trace)
	}
}

func TestStampLeavesJobsInTheirTraces(t *testing.T) {
	_, provider := recorder(t)
	ctx, span := provider.Tracer("test").Start(t.Context(), "caller")
	defer span.End()
	mine, other := &fairlead.Job{}, &fairlead.Job{Trace: caller}
	tracing.Stamp(t.Context(), mine)
	if mine.Trace != "" || tracing.Traceparent(t.Context()) != "" {
		t.Errorf("without a span there is %q", mine.Trace)
	}
	tracing.Stamp(ctx, mine, other)
	if fairlead.TraceID(mine.Trace) != span.SpanContext().TraceID().String() || other.Trace != caller {
		t.Errorf("got %q and %q", mine.Trace, other.Trace)
	}
}

func TestASpanTellsHowARunEnded(t *testing.T) {
	for want, work := range map[string]func() error{
		"succeeded ":                 func() error { return nil },
		"error broken pipe":          func() error { return errors.New("broken pipe") },
		"failed no such account":     func() error { return fairlead.Fatal(errors.New("no such account")) },
		"retried busy":               func() error { return fairlead.RetryAfter(time.Hour, errors.New("busy")) },
		"snoozed ":                   func() error { return fairlead.SnoozeFor(time.Hour) },
		"waiting ":                   func() error { return fairlead.Await(time.Hour) },
		"released ":                  fairlead.Release,
		"panic the handler panicked": func() error { panic("a secret") },
	} {
		exporter, provider := recorder(t)
		handler := tracing.Middleware(provider)(fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return work() }))
		func() {
			defer func() { _ = recover() }()
			_ = handler.Work(t.Context(), &fairlead.Job{Kind: "k", Trace: "no traceparent"})
		}()
		span := exporter.GetSpans()[0]
		attributes := attribute.NewSet(span.Attributes...)
		outcome, _ := attributes.Value("fairlead.job.outcome")
		if got := outcome.String() + " " + span.Status.Description; got != want || (span.Status.Code == codes.Error) != (span.Status.Description != "") {
			t.Errorf("got %q (%v), want %q", got, span.Status, want)
		}
		if span.Parent.IsValid() {
			t.Errorf("%q has a parent", want)
		}
	}
}

func TestASpanDoesNotShowWhatIsConfidential(t *testing.T) {
	exporter, provider := recorder(t)
	mux := fairlead.NewMux()
	mux.Use(tracing.Middleware(provider))
	mux.Handle("pay", fairlead.HandlerOptions{Confidential: []string{"args.card"}}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
		return fmt.Errorf("%s is refused", job.Args)
	}))
	if err := mux.Entry("pay").Handler.Work(t.Context(), &fairlead.Job{Kind: "pay", Args: []byte(`{"card":"4111222"}`)}); err == nil {
		t.Fatal("it did not fail")
	}
	for _, span := range exporter.GetSpans() {
		if text := fmt.Sprint(span); strings.Contains(text, "4111222") || span.Status.Description != `{"card":"***"} is refused` {
			t.Errorf("the span is %s", text)
		}
	}
}

// A target may repeat a secret in the reason phrase of its status.
func TestASpanDoesNotShowTheReasonPhraseOfAResponse(t *testing.T) {
	exporter, provider := recorder(t)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 503 s3cret\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		_ = conn.Close()
	}))
	defer target.Close()
	ctx, span := provider.Tracer("test").Start(t.Context(), "caller")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := tracing.Transport(nil).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	span.End()
	spans := exporter.GetSpans()
	if len(spans) != 2 || spans[0].Status.Description != "503 Service Unavailable" || strings.Contains(fmt.Sprint(spans), "s3cret") {
		t.Errorf("the spans are %v", spans)
	}
}
