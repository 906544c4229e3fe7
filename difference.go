package fairlead

import "fmt"

// Difference is a field whose stored value differed from its declared value.
type Difference struct {
	Field string // name as in error messages, such as "job.priority"
	Was   string // stored value before the change
	Is    string // stored value now
}

// String returns the difference in the form "field: old → new".
func (d Difference) String() string { return fmt.Sprintf("%s: %s → %s", d.Field, d.Was, d.Is) }
