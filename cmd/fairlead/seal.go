package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/seal"
)

const sealKeysUsage = "file with the keys for encrypting job data before it is stored, one per line, as an ID and 32 bytes in Base64; new data uses the first key (default: no encryption)"

// sealWith wraps a store with encryption if a key file is given.
func sealWith(file string, store driver.Store, registry access.Store, log *slog.Logger) (driver.Store, access.Store, error) {
	if file == "" {
		return store, registry, nil
	}
	keys, err := newReread("keys of --seal-keys", log, func() (*seal.Keys, error) { return readSealKeys(file) }, file)
	if err != nil {
		return nil, nil, usagef("--seal-keys: %w", err)
	}
	warnIfOpen(log, "--seal-keys", file)
	codec := currentKeys{keys}
	return seal.Wrap(store, codec), seal.WrapAccess(registry, codec), nil
}

// currentKeys uses the keys that are currently in the file.
type currentKeys struct {
	keys *reread[*seal.Keys]
}

// Seal implements seal.Codec.
func (c currentKeys) Seal(plain []byte, label string) ([]byte, error) {
	return c.keys.get().Seal(plain, label)
}

// Open implements seal.Codec.
func (c currentKeys) Open(sealed []byte) ([]byte, error) { return c.keys.get().Open(sealed) }

// readSealKeys reads a key file. Its errors contain no part of a key.
func readSealKeys(file string) (*seal.Keys, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var keys []seal.Key
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 2 {
			return nil, fmt.Errorf("%s, line %d: expected an ID and a key, such as the output of: echo $(date +%%Y-%%m) $(openssl rand -base64 32)", file, n)
		}
		secret, err := base64.StdEncoding.DecodeString(words[1])
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: key %q is not valid Base64", file, n, words[0])
		}
		keys = append(keys, seal.Key{ID: words[0], Secret: secret})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s contains no key; generate one with: echo $(date +%%Y-%%m) $(openssl rand -base64 32)", file)
	}
	return seal.NewKeys(keys[0], keys[1:]...)
}
