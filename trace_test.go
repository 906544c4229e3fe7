package fairlead_test

import (
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestTraceIDIsReadFromATraceparentAndFromNothingElse(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]string{
		"00-" + id + "-" + span + "-01":                        id,
		"00-" + id + "-" + span + "-00":                        id,
		"cc-" + id + "-" + span + "-01-what-the-future-brings": id,
		"":                                                    "",
		"00-abc":                                              "",
		"00-" + id + "-" + span:                               "",
		"00-" + id + "-" + span + "-01-more":                  "",
		"cc-" + id + "-" + span + "-01more":                   "",
		"ff-" + id + "-" + span + "-01":                       "",
		"00-" + id[:31] + "g-" + span + "-01":                 "",
		"00_" + id + "_" + span + "_01":                       "",
		"00-" + id + "-0000000000000000-01":                   "",
		"00-" + id[:31] + "\n-" + span + "-01":                "",
		"00-00000000000000000000000000000000-" + span + "-01": "",
	} {
		if got := fairlead.TraceID(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
