package transcript

import (
	"os"
	"slices"
	"testing"
)

func TestExamplesAreCommandsWithWhatTheyPrint(t *testing.T) {
	text := "Some text.\n\n```console\n$ echo one; echo two\none\ntwo\n$ cat <<END\nthree\nEND\nthree\n```\n\n```sh\n$ rm all\n```\n\n```console\n$ true\n```\n"
	want := []Example{{"echo one; echo two", "one\ntwo"}, {"cat <<END\nthree\nEND", "three"}, {"true", ""}}
	got := Of(text)
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for _, e := range got {
		printed, err := e.Run(t.Context(), t.TempDir(), os.Environ())
		if err != nil || !e.Fits(printed) {
			t.Errorf("%q printed %q: %v", e.Command, printed, err)
		}
	}
}

func TestAnEllipsisStandsForAnything(t *testing.T) {
	for got, fits := range map[string]bool{
		`{"id":"7","name":"a.b"}`:              true,
		"{\"id\":\"\n\",\"name\":\"a.b\"}":     true,
		`{"id":"7","name":"axb"}`:              false,
		`{"id":"7","name":"a.b"} and more`:     false,
		`{"id":"7","created":1,"name":"other"`: false,
	} {
		if (Example{Want: `{"id":"…","name":"a.b"}`}).Fits(got) != fits {
			t.Errorf("%s: want %v", got, fits)
		}
	}
}
