package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// File returns the lines of a local file. It returns an error unless path, after resolving
// symbolic links, is a regular file below a directory in options.Roots.
func File(path string, options Options) (*Lines, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := openBelow(options.Roots, path)
	if err != nil {
		return nil, fmt.Errorf("source: file %q: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("source: file %q: %w", path, err)
	}
	open := func() blob { return &file{roots: options.Roots, path: path} }
	return &Lines{name: path, options: options, open: open}, nil
}

var errNotAllowed = errors.New("the file is not in a directory that sweeps may read; ask the operator to allow its directory")

// openBelow opens a file through its root directory, so that no link can be inserted
// between the check and the open.
func openBelow(roots []string, path string) (*os.File, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("the path must be absolute")
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		// The error must not reveal whether a file exists elsewhere.
		if !belowAny(roots, filepath.Clean(path)) {
			return nil, errNotAllowed
		}
		return nil, plainError(err)
	}
	for _, dir := range roots {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		inside, below := below(dir, resolved)
		if !below {
			continue
		}
		return openRegular(dir, inside)
	}
	return nil, errNotAllowed
}

func openRegular(dir, inside string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, plainError(err)
	}
	defer root.Close()
	// Opening a pipe would wait for a writer, so check the type first.
	info, err := root.Stat(inside)
	if err != nil {
		return nil, plainError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(inside)
	if err != nil {
		return nil, plainError(err)
	}
	return f, nil
}

func belowAny(roots []string, path string) bool {
	for _, dir := range roots {
		if _, ok := below(filepath.Clean(dir), path); ok {
			return true
		}
	}
	return false
}

func below(dir, path string) (inside string, ok bool) {
	inside, err := filepath.Rel(dir, path)
	if err != nil || inside == "." || inside == ".." || strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return "", false
	}
	return inside, true
}

// plainError removes the path from an error, because the caller adds it.
func plainError(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// file is the blob of a local file.
type file struct {
	roots []string
	path  string

	expected *identity
	f        *os.File
}

// headSize is the size of the beginning that is compared.
const headSize = 64 << 10

func (b *file) identify(context.Context) (identity, error) {
	if err := b.reopen(); err != nil {
		return identity{}, err
	}
	is, err := b.stat()
	if err != nil {
		return identity{}, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(b.f, 0, headSize)); err != nil {
		return identity{}, plainError(err)
	}
	is.Head = hex.EncodeToString(hash.Sum(nil)[:16])
	return is, nil
}

func (b *file) reopen() error {
	b.close()
	f, err := openBelow(b.roots, b.path)
	b.f = f
	return err
}

// stat returns the identity without the hash of the beginning.
func (b *file) stat() (identity, error) {
	info, err := b.f.Stat()
	if err != nil {
		return identity{}, plainError(err)
	}
	return identity{Size: info.Size(), Modified: info.ModTime().UTC().Format(time.RFC3339Nano), Ranges: true}, nil
}

func (b *file) expect(content identity) { b.expected = &content }

func (b *file) readAt(ctx context.Context, p []byte, offset int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if b.f == nil {
		is, err := b.identify(ctx)
		if err != nil {
			return 0, err
		}
		if err := b.expected.mustBe(is); err != nil {
			return 0, err
		}
	}
	n, err := b.f.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, plainError(err)
	}
	// The file was modified during the read: the data may be old or new.
	is, statErr := b.stat()
	if statErr != nil {
		return 0, statErr
	}
	if changed := b.expected.mustBe(is); changed != nil {
		return 0, changed
	}
	return n, err
}

func (b *file) blockSize() int { return 256 << 10 }

func (b *file) close() {
	if b.f != nil {
		_ = b.f.Close() // opened only for reading
		b.f = nil
	}
}
