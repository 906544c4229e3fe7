package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// note checks a text that a reader gets to see on a surface.
func (c *canaries) note(surface, where, text string) {
	c.Helper()
	if found(text, openMark) {
		c.open[surface] = true
	}
	at, decoded := finds(text, secretMark)
	if at < 0 {
		return
	}
	if c.leaks++; c.leaks <= 40 {
		c.Errorf("%s: %s shows a confidential value: %q", surface, where, decoded[max(0, at-160):min(len(decoded), at+80)])
	}
}

// wantOpen checks that surfaces show the values that are not confidential: the test has read them.
func (c *canaries) wantOpen(surfaces ...string) {
	c.Helper()
	for _, surface := range surfaces {
		if !c.open[surface] {
			c.Errorf("%s: nothing shows the values that are not confidential; does the test read it?", surface)
		}
	}
}

// values returns the values of the parameter in a path, which is the only one, or one empty value
// if the path has none.
func (c *canaries) values(path string) []string {
	before, _, parameter := strings.Cut(path, "{")
	if !parameter {
		return []string{""}
	}
	values, known := c.known[before]
	if !known {
		c.Errorf("the test knows no values for %s", path)
	}
	return values
}

// some returns at most a number of values, spread over all of them.
func some(values []string, most int) (chosen []string) {
	for i := range min(len(values), most) {
		chosen = append(chosen, values[i*len(values)/min(len(values), most)])
	}
	return chosen
}

var parameter = regexp.MustCompile(`\{\w+\}`)

// readREST reads everything that the OpenAPI document lists.
func (c *canaries) readREST() {
	var document struct {
		Paths map[string]map[string]any
	}
	_, text := c.fetch(http.DefaultClient, "viewer", "GET", "/openapi.json", "", "")
	if err := decode(strings.NewReader(text), &document); err != nil {
		c.Fatal(err)
	}
	required := map[string]string{"/api/v1/schedules/{id}/backfill/preview": "?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z"}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		if document.Paths[path]["get"] == nil {
			continue
		}
		values := c.values(path)
		for i, value := range values {
			roles := readers
			switch {
			case path == "/api/v1/audit", path == "/api/v1/tokens":
				roles = []string{"viewer", "operator", "admin"}
			case len(values) > 20:
				roles = readers[i%2 : i%2+1]
			}
			for _, role := range roles {
				c.readPages("REST "+path, role, parameter.ReplaceAllLiteralString(path, url.PathEscape(value))+required[path])
			}
		}
	}
}

var nextPage = regexp.MustCompile(`"next_page_token":"([^"]+)"`)

// readPages reads all pages of a list, or what else a path leads to.
func (c *canaries) readPages(surface, role, path string) {
	c.Helper()
	for token := ""; ; {
		at := path
		if token != "" {
			at += "?page_token=" + url.QueryEscape(token) // no list has other parameters that are required
		}
		status, text := c.fetch(http.DefaultClient, role, "GET", at, "", "")
		if status != http.StatusOK && status != http.StatusForbidden {
			c.Errorf("%s as %s: %d %.300s", at, role, status, text)
		}
		c.note(surface, at+" as "+role, text)
		next := nextPage.FindStringSubmatch(text)
		if next == nil || status != http.StatusOK {
			return
		}
		token = next[1]
	}
}

// readRPC reads with every method that reads: as a viewer over Connect, and as an operator over
// gRPC.
func (c *canaries) readRPC() {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	http2 := &http.Client{Transport: transport}
	defer transport.CloseIdleConnections()
	protoregistry.GlobalFiles.RangeFilesByPackage("fairlead.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				c.readMethod(http2, methods.Get(j))
			}
		}
		return true
	})
}

func (c *canaries) readMethod(http2 *http.Client, method protoreflect.MethodDescriptor) {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	if rule.GetGet() == "" {
		return
	}
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	for _, value := range some(c.values(rule.GetGet()), 20) {
		asked := "{}"
		if name := parameter.FindString(rule.GetGet()); name != "" {
			fields := object{strings.Trim(name, "{}"): value}
			if method.Name() == "PreviewBackfill" {
				fields["from"], fields["to"] = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"
			}
			asked = literal(fields)
		}
		kind, body := "application/json", asked
		if method.IsStreamingServer() {
			kind, body = "application/connect+json", frame([]byte(asked))
		}
		status, text := c.fetch(http.DefaultClient, "viewer", "POST", path, kind, body)
		if status != http.StatusOK && status != http.StatusForbidden {
			c.Errorf("%s of %q: %d %.300s", path, value, status, text)
		}
		c.note("Connect "+string(method.Name()), path+" of "+value, text)
		message, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
		if err != nil {
			c.Fatal(err)
		}
		request := message.New().Interface()
		if err := protojson.Unmarshal([]byte(asked), request); err != nil {
			c.Fatal(err)
		}
		raw, err := proto.Marshal(request)
		if err != nil {
			c.Fatal(err)
		}
		_, text = c.fetch(http2, "operator", "POST", path, "application/grpc", frame(raw))
		c.note("gRPC "+string(method.Name()), path+" of "+value, text)
	}
}

// frame encodes a message of a stream.
func frame(message []byte) string {
	return string(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
}

// firstOf reads the first message of a stream: the others are like it, and a stream may have no
// end. A stream that sends nothing is closed.
func firstOf(kind string, body io.ReadCloser) (text string) {
	timer := time.AfterFunc(time.Second, func() { _ = body.Close() })
	defer timer.Stop()
	reader := bufio.NewReader(body)
	if strings.HasPrefix(kind, "application/") {
		var head [5]byte
		if _, err := io.ReadFull(reader, head[:]); err != nil {
			return ""
		}
		message := make([]byte, binary.BigEndian.Uint32(head[1:]))
		n, _ := io.ReadFull(reader, message)
		return string(message[:n])
	}
	for {
		line, err := reader.ReadString('\n')
		if text += line; err != nil || strings.TrimSpace(line) == "" && strings.Contains(text, "data:") {
			return text
		}
	}
}

var links = regexp.MustCompile(`(?:href|action|data-[a-z]+)="(/[^"#]*)`)

// samePage is how many pages are read whose paths differ only in numbers and in the query.
const samePage = 4

// readConsole follows the links of the console, and reads the pages, live parts and documents of
// everything that the test knows.
func (c *canaries) readConsole(role string) {
	seen, alike := map[string]bool{}, map[string]int{}
	todo := []string{"/", "/jobs", "/failures", "/runs", "/schedules", "/load", "/tenants", "/queues", "/holds", "/nodes", "/batches", "/bulks", "/sweeps", "/calendars", "/audit", "/tokens"}
	always := map[string]bool{}
	add := func(paths ...string) {
		for _, path := range paths {
			todo, always[path] = append(todo, path), true
		}
	}
	for _, id := range some(c.jobs, 60) {
		add("/jobs/" + id)
	}
	for _, id := range some(c.jobs, 15) {
		for _, name := range []string{"args", "output", "progress", "reported", "memo"} {
			add("/jobs/" + id + "/documents/" + name)
		}
	}
	for _, list := range []string{"/schedules/", "/batches/", "/sweeps/", "/tenants/", "/bulks/"} {
		for _, name := range c.known["/api/v1"+list] {
			add(list + name)
		}
	}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		kind := regexp.MustCompile(`\d+|\?.*`).ReplaceAllString(path, "N")
		if seen[path] || strings.HasPrefix(path, "/static/") || strings.HasPrefix(path, "/log") || strings.HasPrefix(path, "/docs") || alike[kind] >= samePage && !always[path] {
			continue
		}
		seen[path] = true
		alike[kind]++
		_, text := c.fetch(http.DefaultClient, role, "GET", path, "", "")
		surface := "console " + regexp.MustCompile(`^[a-z]*`).FindString(path[1:])
		if strings.Contains(path, "/documents/") {
			surface = "console documents"
		}
		c.note(surface, path+" as "+role, text)
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			todo = append(todo, strings.ReplaceAll(link[1], "&amp;", "&"))
		}
	}
	for _, screen := range []string{"/jobs/", "/schedules/", "/batches/", "/sweeps/", "/tenants/"} {
		for _, name := range some(c.known["/api/v1"+screen], 5) {
			_, text := c.fetch(http.DefaultClient, role, "GET", "/live"+screen+name, "", "")
			c.note("console live", "/live"+screen+name+" as "+role, text)
		}
	}
}
