package access_test

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

func TestWhatMayBeConfidentialIsMaskedInAnEnsureEntry(t *testing.T) {
	var differences []fairlead.Difference
	for _, field := range []string{"job.args", "alert", "data", "job.priority"} {
		differences = append(differences, fairlead.Difference{Field: field, Was: "1", Is: "2"})
	}
	entry, err := access.EnsureEntry("EnsureSchedule", "schedule:s", "", differences)
	if err != nil {
		t.Fatal(err)
	}
	const before = `{"alert":"***","data":"***","job.args":"***","job.priority":"1"}`
	const after = `{"alert":"***","data":"***","job.args":"***","job.priority":"2"}`
	if string(entry.Before) != before || string(entry.After) != after {
		t.Errorf("it has %s and %s", entry.Before, entry.After)
	}
}
