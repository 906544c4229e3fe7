package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers below are field numbers in opentelemetry/proto/trace/v1/trace.proto and the
// files that it imports.

// encode returns spans as an ExportTraceServiceRequest.
func encode(spans []sdk.ReadOnlySpan) []byte {
	var request buffer
	for _, resource := range grouped(spans, func(span sdk.ReadOnlySpan) attribute.Distinct { return span.Resource().Equivalent() }) {
		request.message(1, func(b *buffer) { writeResourceSpans(b, resource) })
	}
	return request
}

// grouped groups spans with the same key, in the order in which the keys first occur.
func grouped[Key comparable](spans []sdk.ReadOnlySpan, key func(sdk.ReadOnlySpan) Key) [][]sdk.ReadOnlySpan {
	var groups [][]sdk.ReadOnlySpan
	places := map[Key]int{}
	for _, span := range spans {
		place, known := places[key(span)]
		if !known {
			place = len(groups)
			places[key(span)] = place
			groups = append(groups, nil)
		}
		groups[place] = append(groups[place], span)
	}
	return groups
}

func writeResourceSpans(b *buffer, spans []sdk.ReadOnlySpan) {
	resource := spans[0].Resource()
	b.message(1, func(b *buffer) { writeAttributes(b, 1, resource.Attributes()) })
	for _, scope := range grouped(spans, sdk.ReadOnlySpan.InstrumentationScope) {
		b.message(2, func(b *buffer) { writeScopeSpans(b, scope) })
	}
	b.text(3, resource.SchemaURL())
}

func writeScopeSpans(b *buffer, spans []sdk.ReadOnlySpan) {
	scope := spans[0].InstrumentationScope()
	b.message(1, func(b *buffer) { writeScope(b, scope) })
	for _, span := range spans {
		b.message(2, func(b *buffer) { writeSpan(b, span) })
	}
	b.text(3, scope.SchemaURL)
}

func writeScope(b *buffer, scope instrumentation.Scope) {
	b.text(1, scope.Name)
	b.text(2, scope.Version)
	writeAttributes(b, 3, scope.Attributes.ToSlice())
}

func writeSpan(b *buffer, span sdk.ReadOnlySpan) {
	own, parent := span.SpanContext(), span.Parent()
	writeIDs(b, own)
	b.text(3, own.TraceState().String())
	if id := parent.SpanID(); id.IsValid() {
		b.bytes(4, id[:])
	}
	b.text(5, span.Name())
	b.number(6, uint64(span.SpanKind())) // the numbers match
	b.fixed64(7, nanoseconds(span.StartTime()))
	b.fixed64(8, nanoseconds(span.EndTime()))
	writeAttributes(b, 9, span.Attributes())
	b.count(10, span.DroppedAttributes())
	for _, event := range span.Events() {
		b.message(11, func(b *buffer) { writeEvent(b, event) })
	}
	b.count(12, span.DroppedEvents())
	for _, link := range span.Links() {
		b.message(13, func(b *buffer) { writeLink(b, link) })
	}
	b.count(14, span.DroppedLinks())
	b.message(15, func(b *buffer) { writeStatus(b, span.Status()) })
	b.fixed32(16, flags(own.TraceFlags(), parent))
}

// writeIDs writes the trace ID and the span ID, which are fields 1 and 2 in both spans and
// links.
func writeIDs(b *buffer, span trace.SpanContext) {
	traceID, spanID := span.TraceID(), span.SpanID()
	b.bytes(1, traceID[:])
	b.bytes(2, spanID[:])
}

func nanoseconds(at time.Time) uint64 { return uint64(max(0, at.UnixNano())) }

// flags returns the flags of a trace combined with whether the other span was made by
// another process.
func flags(own trace.TraceFlags, other trace.SpanContext) uint32 {
	const known, remote = 0x100, 0x200
	all := uint32(own) | known
	if other.IsRemote() {
		all |= remote
	}
	return all
}

func writeEvent(b *buffer, event sdk.Event) {
	b.fixed64(1, nanoseconds(event.Time))
	b.text(2, event.Name)
	writeAttributes(b, 3, event.Attributes)
	b.count(4, event.DroppedAttributeCount)
}

func writeLink(b *buffer, link sdk.Link) {
	writeIDs(b, link.SpanContext)
	b.text(3, link.SpanContext.TraceState().String())
	writeAttributes(b, 4, link.Attributes)
	b.count(5, link.DroppedAttributeCount)
	b.fixed32(6, flags(link.SpanContext.TraceFlags(), link.SpanContext))
}

func writeStatus(b *buffer, status sdk.Status) {
	const succeeded, failed = 1, 2
	b.text(2, status.Description)
	switch status.Code {
	case codes.Ok:
		b.number(3, succeeded)
	case codes.Error:
		b.number(3, failed)
	}
}

func writeAttributes(b *buffer, field protowire.Number, attributes []attribute.KeyValue) {
	for _, pair := range attributes {
		b.message(field, func(b *buffer) {
			b.text(1, string(pair.Key))
			b.message(2, func(b *buffer) { writeValue(b, pair.Value) })
		})
	}
}
