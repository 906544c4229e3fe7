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
	"github.com/fairlead-io/fairlead/internal/otlp"
	"github.com/fairlead-io/fairlead/tracing"
)

// traces is where spans go. The zero value is nowhere, and costs nothing.
type traces struct {
	sdk *sdk.TracerProvider
	log *slog.Logger
}

// startTraces sends spans to a collector if the flag or the environment names
// one. All else (headers, sampling, batches) is set by the variables that
// OpenTelemetry defines.
func startTraces(ctx context.Context, endpoint, node string, log *slog.Logger) (*traces, error) {
	options, wanted, err := exporterOptions(endpoint, os.Getenv)
	if err != nil || !wanted {
		return &traces{}, err
	}
	// What the environment says comes last and wins.
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

// exporterOptions reports whether spans are wanted, and where. The flag is a base URL, as
// OTEL_EXPORTER_OTLP_ENDPOINT is, and goes before the environment.
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

// provider is nil if spans go nowhere.
func (t *traces) provider() trace.TracerProvider {
	if t.sdk == nil {
		return nil
	}
	return t.sdk
}

// wrap makes the runs of a mux's handlers spans.
func (t *traces) wrap(mux *fairlead.Mux) {
	if t.sdk != nil {
		mux.Use(tracing.Middleware(t.sdk))
	}
}

// stop sends what is left, for a moment.
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
