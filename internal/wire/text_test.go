package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

func TestAParameterOfAURLIsReadAsItsField(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		texts []string
		want  proto.Message
		err   string
	}{
		"a text":                {"key", []string{`a "b" \`}, &fairleadv1.ListJobsRequest{Key: `a "b" \`}, ""},
		"texts":                 {"kind", []string{"a", "b"}, &fairleadv1.ListJobsRequest{Kind: []string{"a", "b"}}, ""},
		"one text of a list":    {"kind", []string{"a"}, &fairleadv1.ListJobsRequest{Kind: []string{"a"}}, ""},
		"a number":              {"page_size", []string{"7"}, &fairleadv1.ListJobsRequest{PageSize: 7}, ""},
		"a time":                {"from", []string{"2030-01-01T00:00:00Z"}, &fairleadv1.ListJobsRequest{From: &timestamppb.Timestamp{Seconds: 1893456000}}, ""},
		"a truth":               {"open", []string{"true"}, &fairleadv1.ListBatchesRequest{Open: true}, ""},
		"a fraction":            {"rate", []string{"2.5"}, &fairleadv1.NewBatch{Rate: 2.5}, ""},
		"a number twice":        {"page_size", []string{"7", "8"}, &fairleadv1.ListJobsRequest{}, "page_size: appears 2 times"},
		"no number":             {"page_size", []string{"many"}, &fairleadv1.ListJobsRequest{}, `page_size: is "many"; it must be a whole number`},
		"no truth":              {"open", []string{"yes"}, &fairleadv1.ListBatchesRequest{}, "open: cannot be read"},
		"more than a truth":     {"open", []string{"true x"}, &fairleadv1.ListBatchesRequest{}, "open: cannot be read"},
		"no fraction":           {"rate", []string{"{}"}, &fairleadv1.NewBatch{}, "rate: is an object; it must be a number"},
		"a text that is none":   {"key", []string{"\xff"}, &fairleadv1.ListJobsRequest{}, "key: cannot be read"},
		"one of a list is none": {"kind", []string{"a", "\xff"}, &fairleadv1.ListJobsRequest{}, "kind: cannot be read"},
		"no time":               {"from", []string{"soon"}, &fairleadv1.ListJobsRequest{}, `from: is "soon"; it must be a time`},
		"a message":             {"canary", []string{"{}"}, &fairleadv1.NewBatch{}, "canary: cannot be given in the URL"},
		"a document":            {"info", []string{"{}"}, &fairleadv1.NewBatch{}, "info: cannot be given in the URL"},
		"a map":                 {"labels", []string{"{}"}, &fairleadv1.Tenant{}, "labels: cannot be given in the URL"},
		"nothing known":         {"colour", []string{"red"}, &fairleadv1.Tenant{}, "colour: is not a known parameter"},
	} {
		into := c.want.ProtoReflect().New().Interface()
		err := wire.SetTexts(into, c.field, c.texts)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %s", name, err, c.err)
		}
		if diff := cmp.Diff(c.want, into, protocmp.Transform()); err == nil && diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
}
