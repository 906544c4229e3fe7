package interleave

// A Bug is a fault that was planted on purpose, to show that the orders find it. Command prove
// builds the store with the bug and plays the pairs that should find it.
type Bug struct {
	Name string
	Why  string // the guarantee that it breaks

	Database string // where the pairs are played
	Pairs    string // part of the names of the pairs that find it
	File     string // the file with the bug
	Was, Is  string // the text that is replaced, which the file has once, and its replacement
}

// Bugs returns the catalogue of planted bugs.
func Bugs() []Bug { return bugs }
