package scale

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// few returns a cluster with more lanes than a claim considers, small enough for a test.
func few() Spec { return Spec{Nodes: 8, Tenants: 1000, Busy: 400, Max: 20, Seconds: 20, Seed: 7} }

func TestTheSameSeedGivesTheSameCounts(t *testing.T) {
	first, second := Run(few()), Run(few())
	first.ClaimMicros, first.ShareMicros, second.ClaimMicros, second.ShareMicros = 0, 0, 0, 0
	if first != second {
		t.Errorf("got\n%+v, then\n%+v", first, second)
	}
}

func TestTenantsGetWhatTheyAreEntitledTo(t *testing.T) {
	one := few()
	one.Nodes, one.Max = 1, 160
	if f := Run(one); f.Beyond > 0 || f.Worst > 1 {
		t.Errorf("one node gave %v %% beyond what tenants are entitled to, and one of them %v", f.Beyond, f.Worst)
	}
	// A node writes what it has started with its next claim, a second later, and others
	// read it with theirs: at most what is started in two seconds goes elsewhere.
	if f := Run(few()); f.Beyond > 200/float64(f.Seconds) {
		t.Errorf("several nodes gave %v %% beyond what tenants are entitled to", f.Beyond)
	}
}

func TestAClaimLooksAtFewOfManyLanes(t *testing.T) {
	if f := Run(few()); f.LanesRead < 1 || f.LanesRead > 2*manyLanes {
		t.Errorf("a claim read %v lanes", f.LanesRead)
	}
}

func TestEveryClaimIsFilledAlthoughClaimsOverlap(t *testing.T) {
	spec := few()
	spec.ClaimTime = 0.5
	f := Run(spec)
	if f.Tries <= 1 {
		t.Errorf("claims that overlap took %v tries: they did not get into each other's way", f.Tries)
	}
	if f.Got < 0.9*float64(spec.Max) {
		t.Errorf("a claim got %v jobs of %d", f.Got, spec.Max)
	}
}

// If one of these fails because a store was made better, docs/scale.md has to be measured
// again.
func TestWhatNodesReadOfEachOtherGrowsWithTheSquareOfTheirNumber(t *testing.T) {
	spec := few()
	spec.Nodes = 4
	small := Run(spec)
	spec.Nodes = 16
	large := Run(spec)
	if ratio := large.ShareRead / small.ShareRead; ratio < 8 || ratio > 20 {
		t.Errorf("four times as many nodes read %v times as many rows", ratio)
	}
	if ratio := large.ClaimRows / small.ClaimRows; ratio < 3 || ratio > 5 {
		t.Errorf("claims of four times as many nodes read %v times as many rows", ratio)
	}
}

func TestTheChartIsWellFormedAndNamesItsLines(t *testing.T) {
	var report Report
	for _, nodes := range []int{1, 4} {
		report = append(report, Run(Spec{Nodes: nodes, Tenants: 300, Seconds: 2}))
	}
	var out bytes.Buffer
	if err := report.WriteChart(&out); err != nil {
		t.Fatal(err)
	}
	for _, l := range allSeries {
		if !strings.Contains(out.String(), l.name) {
			t.Errorf("%s is missing", l.name)
		}
	}
	decoder := xml.NewDecoder(&out)
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
