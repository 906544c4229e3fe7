package otlp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// nested lists the fields that contain messages, by the path of their numbers from the
// request.
var nested = []string{
	"1", "1.1", "1.1.1", "1.1.1.2", "1.2", "1.2.1", "1.2.1.3", "1.2.1.3.2", "1.2.2",
	"1.2.2.9", "1.2.2.9.2", "1.2.2.9.2.5", "1.2.2.9.2.5.1", "1.2.2.9.2.6", "1.2.2.9.2.6.1", "1.2.2.9.2.6.1.2",
	"1.2.2.11", "1.2.2.11.3", "1.2.2.11.3.2", "1.2.2.13", "1.2.2.13.4", "1.2.2.13.4.2", "1.2.2.15",
}

// decoded returns the fields of a message that contain no message, as path=value, in order.
func decoded(t *testing.T, path string, message []byte) (fields []string) {
	t.Helper()
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			t.Fatalf("%s: there is no tag", path)
		}
		message = message[size:]
		at := strings.TrimPrefix(fmt.Sprintf("%s.%d", path, number), ".")
		size = protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			t.Fatalf("%s: there is no value", at)
		}
		switch kind {
		case protowire.BytesType:
			value, _ := protowire.ConsumeBytes(message)
			if !slices.Contains(nested, at) {
				fields = append(fields, fmt.Sprintf("%s=%q", at, value))
			} else if inner := decoded(t, at, value); len(inner) > 0 {
				fields = append(fields, inner...)
			} else {
				fields = append(fields, at+"={}")
			}
		case protowire.VarintType:
			value, _ := protowire.ConsumeVarint(message)
			fields = append(fields, fmt.Sprintf("%s=%d", at, int64(value)))
		case protowire.Fixed32Type:
			value, _ := protowire.ConsumeFixed32(message)
			fields = append(fields, fmt.Sprintf("%s=%#x", at, value))
		case protowire.Fixed64Type:
			value, _ := protowire.ConsumeFixed64(message)
			fields = append(fields, fmt.Sprintf("%s=%d", at, value))
		default:
			t.Fatalf("%s has the type %d", at, kind)
		}
		message = message[size:]
	}
	return fields
}

// below returns the fields below a path, without the path.
func below(path string, fields []string) (kept []string) {
	for _, field := range fields {
		if rest, found := strings.CutPrefix(field, path+"."); found {
			kept = append(kept, rest)
		}
	}
	return kept
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func spanContext(span byte, remote bool) trace.SpanContext {
	state, _ := trace.ParseTraceState("vendor=1")
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 't'}, SpanID: trace.SpanID{7: span}, TraceFlags: 1, TraceState: state, Remote: remote})
}

func encoded(t *testing.T, stubs ...tracetest.SpanStub) []string {
	t.Helper()
	return decoded(t, "", encode(tracetest.SpanStubs(stubs).Snapshots()))
}

func TestASpanIsWrittenWithAllThatItHas(t *testing.T) {
	fields := encoded(t, tracetest.SpanStub{
		Name: "run noop", SpanKind: trace.SpanKindConsumer, SpanContext: spanContext('s', false), Parent: spanContext('p', true),
		StartTime: time.Unix(0, 100), EndTime: time.Unix(0, 200), Status: sdk.Status{Code: codes.Error, Description: "broken"},
		Attributes: []attribute.KeyValue{attribute.Int("fairlead.job.id", 5)}, DroppedAttributes: 1, DroppedEvents: 2, DroppedLinks: 3,
		Events: []sdk.Event{{Name: "claimed", Time: time.Unix(0, 150), Attributes: []attribute.KeyValue{attribute.Bool("solo", true)}, DroppedAttributeCount: 4}},
		Links:  []sdk.Link{{SpanContext: spanContext('l', false), Attributes: []attribute.KeyValue{attribute.String("why", "retry")}, DroppedAttributeCount: 6}},
	})
	zeros := strings.Repeat(`\x00`, 15)
	want(t, below("1.2.2", fields),
		`1="`+zeros+`t"`, `2="`+zeros[:28]+`s"`, `3="vendor=1"`, `4="`+zeros[:28]+`p"`, `5="run noop"`, `6=5`, `7=100`, `8=200`,
		`9.1="fairlead.job.id"`, `9.2.3=5`, `10=1`,
		`11.1=150`, `11.2="claimed"`, `11.3.1="solo"`, `11.3.2.2=1`, `11.4=4`, `12=2`,
		`13.1="`+zeros+`t"`, `13.2="`+zeros[:28]+`l"`, `13.3="vendor=1"`, `13.4.1="why"`, `13.4.2.1="retry"`, `13.5=6`, `13.6=0x101`, `14=3`,
		`15.2="broken"`, `15.3=2`, `16=0x301`)
}

func TestASpanWithoutAParentNamesNone(t *testing.T) {
	fields := below("1.2.2", encoded(t, tracetest.SpanStub{Name: "enqueue", SpanContext: spanContext('s', false), Status: sdk.Status{Code: codes.Ok}}))
	for _, field := range fields {
		if strings.HasPrefix(field, "4=") {
			t.Errorf("the parent is %s", field)
		}
	}
	want(t, fields[len(fields)-2:], `15.3=1`, `16=0x101`)
}

func TestValuesOfEachTypeAreWrittenEvenIfZero(t *testing.T) {
	for value, fields := range map[attribute.Value][]string{
		attribute.StringValue(""):                        {`2.1=""`},
		attribute.StringValue("text"):                    {`2.1="text"`},
		attribute.BoolValue(false):                       {`2.2=0`},
		attribute.Int64Value(-1):                         {`2.3=-1`},
		attribute.Int64Value(0):                          {`2.3=0`},
		attribute.Float64Value(0):                        {`2.4=0`},
		attribute.Float64Value(1.5):                      {`2.4=4609434218613702656`}, // its bits
		attribute.StringSliceValue([]string{"a", ""}):    {`2.5.1.1="a"`, `2.5.1.1=""`},
		attribute.BoolSliceValue([]bool{true, false}):    {`2.5.1.2=1`, `2.5.1.2=0`},
		attribute.Int64SliceValue([]int64{7}):            {`2.5.1.3=7`},
		attribute.Float64SliceValue([]float64{0}):        {`2.5.1.4=0`},
		attribute.StringSliceValue(nil):                  {`2.5={}`},
		attribute.SliceValue(attribute.StringValue("a")): {`2.5.1.1="a"`},
		attribute.MapValue(attribute.Int("inner", 3)):    {`2.6.1.1="inner"`, `2.6.1.2.3=3`},
		attribute.ByteSliceValue([]byte{1}):              {`2.7="\x01"`},
		{}:                                               {`2={}`},
	} {
		t.Run(value.Type().String(), func(t *testing.T) {
			fields = append([]string{`1="key"`}, fields...)
			want(t, below("1.2.2.9", encoded(t, tracetest.SpanStub{Attributes: []attribute.KeyValue{{Key: "key", Value: value}}})), fields...)
		})
	}
}

func TestSpansAreGroupedByResourceAndScope(t *testing.T) {
	node := func(name string) *resource.Resource {
		return resource.NewWithAttributes("https://schema", attribute.String("service.instance.id", name))
	}
	server, handler := instrumentation.Scope{Name: "server", Version: "2", SchemaURL: "https://scope", Attributes: attribute.NewSet(attribute.Int("n", 1))}, instrumentation.Scope{Name: "handler"}
	fields := encoded(t,
		tracetest.SpanStub{Name: "a", Resource: node("ada"), InstrumentationScope: server},
		tracetest.SpanStub{Name: "b", Resource: node("bob"), InstrumentationScope: server},
		tracetest.SpanStub{Name: "c", Resource: node("ada"), InstrumentationScope: handler},
		tracetest.SpanStub{Name: "d", Resource: node("ada"), InstrumentationScope: server})
	shown := slices.DeleteFunc(fields, func(field string) bool {
		return strings.HasPrefix(field, "1.2.2.") && !strings.HasPrefix(field, "1.2.2.5=") // only the names of spans
	})
	scope := []string{`1.2.1.1="server"`, `1.2.1.2="2"`, `1.2.1.3.1="n"`, `1.2.1.3.2.3=1`}
	var all []string
	all = append(append(all, `1.1.1.1="service.instance.id"`, `1.1.1.2.1="ada"`), scope...)
	all = append(all, `1.2.2.5="a"`, `1.2.2.5="d"`, `1.2.3="https://scope"`, `1.2.1.1="handler"`, `1.2.2.5="c"`, `1.3="https://schema"`)
	all = append(append(all, `1.1.1.1="service.instance.id"`, `1.1.1.2.1="bob"`), scope...)
	all = append(all, `1.2.2.5="b"`, `1.2.3="https://scope"`, `1.3="https://schema"`)
	want(t, shown, all...)
}
