package httpcall

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSecret is how long a secret may be: long enough for a chain of certificates.
const maxSecret = 64 << 10

// Secrets lists the secrets that calls may reference: the node's environment variables and
// files that the operator has permitted. A nil Secrets permits none. Every call reads its
// secrets again, so changes take effect immediately.
type Secrets struct {
	listed map[string]bool
}

// NewSecrets returns the listed secrets. Each entry has the form env:NAME or file:PATH.
// NewSecrets returns an error if an entry has any other form.
func NewSecrets(listed []string) (*Secrets, error) {
	s := &Secrets{listed: map[string]bool{}}
	for _, name := range listed {
		if found := reference.FindString("${" + name + "}"); found != "${"+name+"}" {
			return nil, fmt.Errorf("%q must be env:NAME or file:PATH", name)
		}
		s.listed[name] = true
	}
	return s, nil
}

// unreadableError is a secret that is listed and cannot be had on this node, or
// not now.
type unreadableError struct {
	name, why string
	err       error // of the system; nil: none
}

func (e *unreadableError) Error() string { return "refers to " + e.name + ", which " + e.why }

// Unwrap is what the system says.
func (e *unreadableError) Unwrap() error { return e.err }

// check refuses a name that is not listed.
func (s *Secrets) check(name string) error {
	if s == nil || !s.listed[name] {
		return fmt.Errorf("refers to %s, which is not an allowed secret; ask the operator to allow it with --allow-secret %s", name, name)
	}
	return nil
}

// read is the value of a secret.
func (s *Secrets) read(name string) (string, error) {
	if err := s.check(name); err != nil {
		return "", err
	}
	if variable, isVariable := strings.CutPrefix(name, "env:"); isVariable {
		if value := os.Getenv(variable); value != "" {
			return value, nil
		}
		return "", &unreadableError{name: name, why: "is empty on this node; set it"}
	}
	value, err := readFile(strings.TrimPrefix(name, "file:"))
	switch {
	case err != nil:
		return "", &unreadableError{name, "this node cannot read: " + err.Error(), err}
	case value == "":
		return "", &unreadableError{name: name, why: "is empty on this node; write the secret to it"}
	case len(value) > maxSecret:
		return "", &unreadableError{name: name, why: fmt.Sprintf("is longer than %d bytes", maxSecret)}
	}
	return value, nil
}

// readFile reads a file but for the line break at its end, which editors leave.
func readFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	return strings.TrimRight(string(raw), "\r\n"), err
}

// soleReference is the name in a text that is a reference and nothing else.
func soleReference(text string) (name string, ok bool) {
	found := reference.FindStringSubmatch(text)
	if found == nil || found[0] != text {
		return "", false
	}
	return found[1], true
}
