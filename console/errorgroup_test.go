package console

import (
	"strings"
	"testing"
	"time"
)

func TestErrorsOfTheSameCauseAreAlike(t *testing.T) {
	for _, alike := range [][]string{
		{"target 17 is gone", "target 4,711 is gone", " target 3.5 is gone\nat line 7"},
		{`no user "ada"`, `no user "grace hopper"`, `no user 'joan'`},
		{"dial tcp 10.0.0.7:5432: connection refused", "dial tcp 10.1.2.3:80: connection refused", "dial tcp [::1]:80: connection refused", "dial tcp db.example.org:80: connection refused"},
		{"GET https://a.example/x?y=1: 503", "GET http://b.example/z: 502"},
		{"order 0b6c6a3e-7d3f-4f0e-9b51-0a2b3c4d5e6f is locked", "order 12 is locked"},
		{"object 5f2c9d1a: no such key", "object 9a8b7c6d5: no such key"},
		{"", "  \n", noError},
	} {
		for _, other := range alike[1:] {
			if a, b := normaliseError(alike[0]), normaliseError(other); a != b {
				t.Errorf("%q is like %q, and %q like %q", alike[0], a, other, b)
			}
		}
	}
}

func TestErrorsOfOtherCausesAreNotAlike(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"the wall is wet", "the wall is gone", "connection refused", "deadbeef", "feed the bad cafe", "timeout after 5s", noError} {
		like := normaliseError(text)
		if before, there := seen[like]; there {
			t.Errorf("%q and %q are both like %q", before, text, like)
		}
		seen[like] = text
	}
}

func TestWhatAnErrorIsLikeIsLikeItself(t *testing.T) {
	for _, text := range []string{"a 1 b", `x "y" z`, "GET http://a/b: 5", strings.Repeat("ä1 ", 400), "", "[::1]:80", "a.example:80"} {
		like := normaliseError(text)
		if again := normaliseError(like); again != like {
			t.Errorf("%q is like %q, which is like %q", text, like, again)
		}
		if len([]rune(like)) > likeLength {
			t.Errorf("%q is longer than %d", like, likeLength)
		}
	}
}

func TestGroupsOfErrorsAreLargestFirstAndShowTheNewest(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 31, 12, minute, 0, 0, time.UTC) }
	groups := groupErrors([]failed{
		{Error: "gone", At: at(9), Name: "a"},
		{Error: "wet: wall 1", At: at(1), Name: "b"},
		{Error: "wet: wall 2", At: at(3), Name: "c"},
		{Error: "wet: wall 3", At: at(2), Name: "d"},
	})
	if len(groups) != 2 || groups[0].Like != "wet: wall #" || groups[0].Count.N != 3 || groups[0].Newest.Name != "c" || groups[1].Count.N != 1 {
		t.Errorf("groups are %+v", groups)
	}
}
