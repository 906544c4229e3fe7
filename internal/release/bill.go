package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// document is the part of CycloneDX 1.6 that is used.
type document struct {
	BOMFormat    string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	SerialNumber string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []licenses `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenses struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// bill returns the list of modules from which a program was built. Its serial number is
// derived from the program, and its time is that of the commit: the same program has the
// same bill.
func bill(r release, info *debug.BuildInfo, sum [sha256.Size]byte) document {
	own := component{
		Type: "application", Name: info.Main.Path, Version: r.version, PURL: packageURL(info.Main.Path, r.version),
		Hashes:     []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
		Properties: []property{{"fairlead:commit", r.commit}},
	}
	own.Licenses = make([]licenses, 1)
	own.Licenses[0].License.ID = "Apache-2.0"
	for _, setting := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED"}, setting.Key) {
			own.Properties = append(own.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	own.Ref = own.PURL
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []component{{
		Type: "library", Ref: packageURL("std", goVersion), Name: "std", Version: goVersion, PURL: packageURL("std", goVersion),
	}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		c := component{Type: "library", Name: module.Path, Version: module.Version, PURL: packageURL(module.Path, module.Version)}
		c.Ref = c.PURL
		if module.Sum != "" {
			c.Properties = []property{{"go:sum", module.Sum}} // checksum of the module's files, as in go.sum
		}
		components = append(components, c)
	}
	return document{
		BOMFormat: "CycloneDX", SpecVersion: "1.6", SerialNumber: serial(sum), Version: 1,
		Metadata:   metadata{Timestamp: r.time.Format(time.RFC3339), Component: own},
		Components: components,
	}
}

// packageURL returns the package URL of a module.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial returns a UUID of version 8, derived from a checksum.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
