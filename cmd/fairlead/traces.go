package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/otlp"
	"github.com/fairlead-io/fairlead/tracing"
)

// traces exports spans. The zero value exports nothing and costs nothing.
type traces struct {
	sdk *sdk.TracerProvider
	log *slog.Logger
}

// startTraces exports spans to a collector if the flag or the environment names one. Other
// settings (headers, sampling, batches) come from the environment variables that
// OpenTelemetry defines.
func startTraces(ctx context.Context, endpoint, node string, log *slog.Logger) (*traces, error) {
	options, wanted, err := exporterOptions(endpoint, os.Getenv)
	if err != nil || !wanted {
		return &traces{}, err
	}
	// The environment comes last, so that it takes precedence.
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "fairlead"),
		attribute.String("service.version", versionText()),
		attribute.String("service.instance.id", fmt.Sprintf("%s-%d", node, os.Getpid())),
	), resource.WithFromEnv())
	if err != nil {
		return nil, usagef("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("trace export failed", "error", err) }))
	return &traces{sdk: sdk.NewTracerProvider(sdk.WithBatcher(otlp.New(options)), sdk.WithResource(about)), log: log}, nil
}

// exporterOptions returns the options of the exporter, and whether to export spans. The
// flag is a base URL, like OTEL_EXPORTER_OTLP_ENDPOINT, and takes precedence over the
// environment.
func exporterOptions(endpoint string, getenv func(string) string) (options otlp.Options, wanted bool, err error) {
	if options, err = otlp.FromEnvironment(getenv); err != nil {
		return options, false, usagef("%w", err)
	}
	if endpoint == "" {
		return options, options.URL != nil, nil
	}
	target, err := otlp.ParseURL(endpoint)
	if err != nil {
		return options, false, usagef("--otlp-endpoint %w", err)
	}
	if !strings.HasSuffix(target.Path, otlp.TracesPath) {
		target = target.JoinPath(otlp.TracesPath)
	}
	options.URL = target
	return options, true, nil
}

// provider returns the tracer provider, or nil if no spans are exported.
func (t *traces) provider() trace.TracerProvider {
	if t.sdk == nil {
		return nil
	}
	return t.sdk
}

// wrap adds spans to the runs of a mux's handlers.
func (t *traces) wrap(mux *fairlead.Mux) {
	if t.sdk != nil {
		mux.Use(tracing.Middleware(t.sdk))
	}
}

// stop exports the remaining spans, for a limited time.
func (t *traces) stop() {
	if t.sdk == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := t.sdk.Shutdown(ctx); err != nil {
		t.log.Warn("export of the remaining traces failed", "error", err)
	}
}
