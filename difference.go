package fairlead

import "fmt"

// Difference is a field of something stored that was not as a program declares it.
type Difference struct {
	Field string // as errors name it, such as "job.priority"
	Was   string // what was stored
	Is    string // what is stored now
}

// String shows the difference to people.
func (d Difference) String() string { return fmt.Sprintf("%s: %s → %s", d.Field, d.Was, d.Is) }
