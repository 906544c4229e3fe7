package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// contexts contains the user's servers and how to reach each.
type contexts struct {
	Current  string            `yaml:"current,omitempty"`
	Contexts map[string]target `yaml:"contexts,omitempty"`
}

// target is a server with the credentials to use.
type target struct {
	Server    string `yaml:"server"`
	Token     string `yaml:"token,omitempty"`
	TokenFile string `yaml:"token_file,omitempty"`
}

func contextsPath() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", Usagef("cannot find the directory for contexts: set XDG_CONFIG_HOME (%w)", err)
		}
	}
	return filepath.Join(dir, "fairlead", "contexts.yaml"), nil
}

// readContexts reads the file of contexts. A missing file has no contexts. It prints a
// warning if other users can read the tokens in the file.
func readContexts(warnings io.Writer) (*contexts, error) {
	c := &contexts{Contexts: map[string]target{}}
	path, err := contextsPath()
	if err != nil {
		return c, nil //nolint:nilerr // a machine without a home directory has no contexts; writing one fails
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, Usagef("read contexts: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(warnings, "fairlead: %s may hold tokens but is readable by other users: run chmod 600 on it\n", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, Usagef("read contexts: %w", err)
	}
	if err := DecodeYAML(path, raw, c, yaml.Strict()); err != nil {
		return nil, Usagef("invalid contexts file; fix or delete it: %w", err)
	}
	if c.Contexts == nil {
		c.Contexts = map[string]target{}
	}
	return c, nil
}

// write replaces the file atomically. Only its owner can read it.
func (c *contexts) write() (err error) {
	path, err := contextsPath()
	if err != nil {
		return err
	}
	raw, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".contexts-*") // has mode 0600
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(raw)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

// target returns the server and the token to use. The command line takes precedence over
// the environment, and the environment over the current context. The token of a context is
// never sent to another server.
func (s *session) target(warnings io.Writer) (target, error) {
	if s.server != "" && s.context != "" {
		return target{}, Usagef("specify either --server or --context, not both")
	}
	if s.token != "" && s.tokenFile != "" {
		return target{}, Usagef("specify either --token or --token-file, not both")
	}
	t, err := s.chosen(warnings)
	if err != nil {
		return target{}, err
	}
	switch file := os.Getenv("FAIRLEAD_TOKEN_FILE"); {
	case s.token != "":
		t.Token, t.TokenFile = s.token, ""
	case s.tokenFile != "":
		t.Token, t.TokenFile = "", s.tokenFile
	case s.context != "" && (t.Token != "" || t.TokenFile != ""): // selected by name
	case os.Getenv("FAIRLEAD_TOKEN") != "":
		t.Token, t.TokenFile = os.Getenv("FAIRLEAD_TOKEN"), ""
	case file != "":
		t.Token, t.TokenFile = "", file
	}
	if err := checkServer(t.Server); err != nil {
		return target{}, err
	}
	if t.TokenFile != "" {
		WarnIfOpen(warnings, t.TokenFile, "an API token")
	}
	return t, t.loadToken()
}

// namesServer reports whether the flags or the environment specify a server or a token.
func (s *session) namesServer() bool {
	return cmp.Or(s.server, s.context, s.token, s.tokenFile,
		os.Getenv("FAIRLEAD_SERVER"), os.Getenv("FAIRLEAD_CONTEXT"), os.Getenv("FAIRLEAD_TOKEN"), os.Getenv("FAIRLEAD_TOKEN_FILE")) != ""
}

// chosen returns the server specified by the flags, the environment or the contexts.
func (s *session) chosen(warnings io.Writer) (target, error) {
	name, server := s.context, s.server
	if name == "" && server == "" {
		if server = os.Getenv("FAIRLEAD_SERVER"); server == "" {
			name = os.Getenv("FAIRLEAD_CONTEXT")
		}
	}
	if server != "" {
		return target{Server: server}, nil
	}
	known, err := readContexts(warnings)
	if err != nil {
		return target{}, err
	}
	if name == "" {
		name = known.Current
	}
	if name == "" {
		return target{Server: defaultServer}, nil
	}
	t, ok := known.Contexts[name]
	if !ok {
		return target{}, Usagef("context %q does not exist: list contexts with fairlead context list", name)
	}
	return t, nil
}

func checkServer(text string) error {
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "":
		return Usagef("the server must be a URL such as %s or https://HOST", defaultServer) // not quoted, because it may contain a password
	case parsed.User != nil:
		return Usagef("the server URL must not contain a user: use a token instead")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return Usagef("the server URL must not have a query or fragment: remove everything from ? or #")
	}
	return nil
}

// loadToken reads the token from its file, if it is in a file.
func (t *target) loadToken() error {
	if t.TokenFile != "" {
		raw, err := os.ReadFile(t.TokenFile)
		if err != nil {
			return Usagef("read the token: %w", err)
		}
		if t.Token = strings.TrimSpace(string(raw)); t.Token == "" {
			return Usagef("read the token: %s is empty", t.TokenFile)
		}
	}
	if strings.ContainsFunc(t.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Usagef("the token contains a character that is not allowed in tokens: copy it again")
	}
	return nil
}
