package otlp

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

var batch = tracetest.SpanStubs{{Name: "run noop"}}.Snapshots()

func at(t *testing.T, text string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestBatchesArePostedWithTheHeadersThatWereAskedFor(t *testing.T) {
	for _, packed := range []bool{false, true} {
		var seen http.Header
		var body []byte
		web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen = r.Header
			from := io.Reader(r.Body)
			if packed {
				unpacked, err := gzip.NewReader(r.Body)
				if err != nil {
					t.Error(err)
					return
				}
				from = unpacked
			}
			body, _ = io.ReadAll(from)
			if r.Method != http.MethodPost || r.URL.Path != "/base/v1/traces" {
				t.Errorf("%s %s", r.Method, r.URL)
			}
		}))
		exporter := New(Options{URL: at(t, web.URL+"/base/v1/traces"), Headers: map[string]string{"x-key": "hunter2"}, Gzip: packed})
		if err := exporter.ExportSpans(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if seen.Get("X-Key") != "hunter2" || seen.Get("Content-Type") != "application/x-protobuf" || (seen.Get("Content-Encoding") == "gzip") != packed {
			t.Errorf("the headers are %v", seen)
		}
		if !slices.Equal(body, encode(batch)) {
			t.Errorf("the body is %q", body)
		}
		if err := errors.Join(exporter.ExportSpans(t.Context(), nil), exporter.Shutdown(t.Context()), exporter.Shutdown(t.Context())); err != nil {
			t.Error(err)
		}
		web.Close()
	}
}

// answers is a collector with prepared responses, returned in order. The last one repeats.
type answers struct {
	next []func(*http.Request) (*http.Response, error)
	at   []time.Duration // times of the requests, relative to made
	made time.Time
}

func (a *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	a.at = append(a.at, time.Since(a.made))
	answer := a.next[0]
	if len(a.next) > 1 {
		a.next = a.next[1:]
	}
	return answer(request)
}

func status(code int, headers ...string) func(*http.Request) (*http.Response, error) {
	return body(code, "text/plain", "the reason", headers...)
}

func body(code int, contentType, text string, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		response := &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(text))}
		for i := 0; i < len(headers); i += 2 {
			response.Header.Set(headers[i], headers[i+1])
		}
		return response, nil
	}
}

func unreachable(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }

func toAnswers(t *testing.T, next ...func(*http.Request) (*http.Response, error)) (*Exporter, *answers) {
	t.Helper()
	collector := &answers{next: next, made: time.Now()}
	exporter := New(Options{URL: at(t, "https://collector/v1/traces?key=hunter2"), Headers: map[string]string{"x-key": "hunter2"}, Timeout: time.Minute})
	exporter.web.Transport = collector
	return exporter, collector
}

func TestABatchIsSentAgainIfThatMayHelp(t *testing.T) {
	for name, failure := range map[string]func(*http.Request) (*http.Response, error){
		"429": status(429), "502": status(502), "503": status(503), "504": status(504), "not reached": unreachable,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exporter, collector := toAnswers(t, failure, failure, status(200))
				if err := exporter.ExportSpans(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
				if len(collector.at) != 3 {
					t.Fatalf("it was sent %d times", len(collector.at))
				}
				for i, wait := range []time.Duration{firstWait, 2 * firstWait} {
					if waited := collector.at[i+1] - collector.at[i]; waited < wait/2 || waited > wait*3/2 {
						t.Errorf("wait %d took %s, not about %s", i+1, waited, wait)
					}
				}
			})
		})
	}
}

func TestACollectorSaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := time.Now().Add(40 * time.Second).UTC().Format(http.TimeFormat)
		exporter, collector := toAnswers(t, status(503, "Retry-After", "17"), status(429, "Retry-After", later), status(200))
		if err := exporter.ExportSpans(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(collector.at, []time.Duration{0, 17 * time.Second, 40 * time.Second}) {
			t.Errorf("it was sent after %v", collector.at)
		}
	})
}

func TestABatchIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   string
		most   time.Duration // expected duration
	}{
		"at once if the collector refuses it":             {status(400), "collector responded with Bad Request: the reason", 0},
		"at once if the key is wrong":                     {status(401), "collector responded with Unauthorized", 0},
		"at once if it should go elsewhere":               {status(307, "Location", "https://elsewhere"), "Temporary Redirect", 0},
		"at once if the collector asks for too much time": {status(503, "Retry-After", "3600"), "Service Unavailable", 0},
		"in the end if nothing changes":                   {status(503), "Service Unavailable", longestTry},
		"in the end if it is not reached":                 {unreachable, "send spans to collector: connection refused", longestTry},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exporter, collector := toAnswers(t, test.answer)
				err := exporter.ExportSpans(t.Context(), batch)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the error is %v", err)
				}
				if took := time.Since(collector.made); took > test.most {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestNoOtherTryIsWaitedForWhenTheProgramEnds(t *testing.T) {
	for name, end := range map[string]func(*Exporter, context.CancelFunc){
		"because of the context":  func(_ *Exporter, cancel context.CancelFunc) { cancel() },
		"because of the exporter": func(exporter *Exporter, _ context.CancelFunc) { _ = exporter.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				exporter, collector := toAnswers(t, status(503))
				ended := make(chan error)
				go func() { ended <- exporter.ExportSpans(ctx, batch) }()
				synctest.Wait()
				end(exporter, cancel)
				if err := <-ended; err == nil || len(collector.at) != 1 || time.Since(collector.made) != 0 {
					t.Errorf("it ended with %v after %s", err, time.Since(collector.made))
				}
			})
		})
	}
}

func TestWhatACollectorSaysIsPassedOn(t *testing.T) {
	var partial, status buffer
	partial.message(1, func(b *buffer) { b.number(1, 3); b.text(2, "too old") })
	status.number(1, 3)
	status.text(2, "no such tenant")
	for name, test := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   string
	}{
		"some spans were refused": {body(200, contentType, string(partial)), "the collector rejected 3 spans: too old"},
		"a status":                {body(400, contentType, string(status)), "collector responded with Bad Request: no such tenant"},
		"no text":                 {body(400, "text/plain", ""), "collector responded with Bad Request"},
		"a status that is none":   {body(400, contentType, "\xff\xff"), "collector responded with Bad Request"},
		"a long text":             {body(400, "text/html", strings.Repeat("a", 9999)), "collector responded with Bad Request: " + strings.Repeat("a", maxReason)},
	} {
		t.Run(name, func(t *testing.T) {
			exporter, _ := toAnswers(t, test.answer)
			if err := exporter.ExportSpans(t.Context(), batch); err == nil || err.Error() != test.want {
				t.Errorf("the error is %v", err)
			}
		})
	}
	exporter, _ := toAnswers(t, body(200, contentType, ""))
	if err := exporter.ExportSpans(t.Context(), batch); err != nil {
		t.Error(err)
	}
}

// A program's tracer provider delivers its spans in batches.
func TestAProviderExports(t *testing.T) {
	bodies := make(chan []byte, 1)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
	}))
	defer web.Close()
	provider := sdk.NewTracerProvider(sdk.WithBatcher(New(Options{URL: at(t, web.URL)})))
	_, span := provider.Tracer("test").Start(t.Context(), "enqueue")
	span.End()
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if body := <-bodies; !strings.Contains(string(body), "enqueue") {
		t.Errorf("%q was sent", body)
	}
}
