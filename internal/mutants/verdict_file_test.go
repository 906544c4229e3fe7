package main

import (
	"path/filepath"
	"testing"
)

func TestEveryEquivalentMutantIsOneOfThisTree(t *testing.T) {
	reasons, err := readEquivalents(equivalentText)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := survey(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range p.places {
		delete(reasons, at.name())
	}
	for name := range reasons {
		t.Errorf("equivalent.txt explains what is not there: %s", name)
	}
}

func TestVerdictsOutliveTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept", "verdicts.jsonl")
	first, err := openVerdictFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := &place{file: "a.go", in: "f", kind: "branch", text: "x"}
	for _, v := range []string{survived, killed} { // the last one counts
		if err := first.add(verdict{Place: at.name(), Verdict: v}); err != nil {
			t.Fatal(err)
		}
	}
	second, err := openVerdictFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := second.find(at); !ok || v.Verdict != killed {
		t.Errorf("the verdict is %+v (%t), want killed", v, ok)
	}
}
