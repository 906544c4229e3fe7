package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// files are all that pages are made of.
//
//go:embed static templates words
var files embed.FS

// assets are files that browsers cache: their URLs contain a digest of all of them, so that
// each version has its own URLs.
type assets struct {
	digest string
	bodies map[string][]byte
}

func newAssets(dir fs.FS) (*assets, error) {
	a := &assets{bodies: map[string][]byte{}}
	hash := sha256.New()
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		a.bodies[name] = body
		_, _ = hash.Write([]byte(name + "\n"))
		_, _ = hash.Write(body)
		return nil
	})
	a.digest = hex.EncodeToString(hash.Sum(nil))[:12]
	return a, err
}

// path returns the path of a file, below the prefix.
func (a *assets) path(name string) string { return "/static/" + a.digest + "/" + name }

// serve serves the files. A URL of another version still returns the file, but without
// caching.
func (a *assets) serve(prefix string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		digest, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, prefix), "/")
		body, there := a.bodies[path.Clean(name)]
		if !there {
			http.NotFound(w, r)
			return
		}
		if digest == a.digest {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	}
}
