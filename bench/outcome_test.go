package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/bench"
)

func example() []*outcome {
	outcomes := newOutcomes([]contest{{name: "drain", title: "Drain", entries: []entry{
		{label: "ours", spec: bench.Spec{Workload: bench.Drain}},
		{label: "theirs", reference: true, spec: bench.Spec{Workload: bench.Drain}},
	}}})
	outcomes[0].Entries[0].Results = []bench.Result{
		{Rate: 90_000, ClientMicros: 10, ServerMicros: 10},
		{Rate: 10_000, ClientMicros: 12, ServerMicros: 8},
		{Rate: 40_000, ClientMicros: 11, ServerMicros: 9, WALBytes: 600},
	}
	outcomes[0].Entries[1].Results = []bench.Result{
		{Rate: 8_000, ClientMicros: 40, ServerMicros: 20},
		{Rate: 12_000, ClientMicros: 60, ServerMicros: 40},
	}
	return outcomes
}

func TestComparisonsUseMedians(t *testing.T) {
	got := example()[0].comparisons()
	want := comparison{ours: "ours", theirs: "theirs", byRate: 4, byCPU: 4}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReports(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return writeText(b, example()) },
		"markdown": func(b *bytes.Buffer) error { return writeMarkdown(b, example()) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Drain", "40,000", "10,000", "4.00× by rate, 4.00× by CPU"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, out.String())
			}
		}
	}
}

func TestAnEntrantThatFailedIsNotCompared(t *testing.T) {
	outcomes := example()
	outcomes[0].Entries[1].Results = nil
	if got := outcomes[0].comparisons(); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
	var out bytes.Buffer
	if err := writeText(&out, outcomes); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "failed") {
		t.Errorf("nothing tells of the failure:\n%s", out.String())
	}
}

func TestOnlyChoosesByPrefix(t *testing.T) {
	options, err := parsePeers([]string{"-only", "sqlite,backlog"})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := options.chosen()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range chosen {
		names = append(names, c.name)
	}
	if got := strings.Join(names, " "); got != "sqlite-drain sqlite-sustained backlog" {
		t.Errorf("got %q", got)
	}
	options.only = "nothing"
	if _, err := options.chosen(); err == nil {
		t.Error("a name that no contest has was accepted")
	}
}

func TestContestsHaveDistinctNamesAndBothSides(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range contests(sizes{jobs: 100, seconds: 1}) {
		if seen[c.name] {
			t.Errorf("%s appears twice", c.name)
		}
		seen[c.name] = true
		sides := map[bool]int{}
		for _, e := range c.entries {
			sides[e.reference]++
		}
		if sides[true] == 0 || sides[false] == 0 {
			t.Errorf("%s has nobody to compare with", c.name)
		}
	}
}
