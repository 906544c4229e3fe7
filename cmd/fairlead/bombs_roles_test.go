package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// siege is a node with large jobs, and callers of every role.
type siege struct {
	*bombed
	*testing.T
	viewer, submitter, worker string // tokens
	large                     []string
}

const largeJobs = 60

func beginSiege(t *testing.T) *siege {
	s := &siege{bombed: startBombed(t), T: t}
	for role, secret := range map[string]*string{"viewer": &s.viewer, "submitter": &s.submitter, "worker": &s.worker} {
		_, answer := s.ask(t, http.MethodPost, "/api/v1/tokens", fmt.Sprintf(`{"name":%q,"role":%q}`, role, role))
		*secret, _ = answer["secret"].(string)
		if *secret == "" {
			t.Fatalf("there is no token of the role %s: %v", role, answer)
		}
	}
	args := strings.Repeat("x", 1<<20-2)
	for range largeJobs {
		s.large = append(s.large, s.enqueueOne(t, `{"kind":"remote","tenant":"hostile","args":"`+args+`"}`))
	}
	return s
}

// at once makes a number of callers do something, each for itself.
func (s *siege) atOnce(callers int, do func(caller int)) {
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// request sends a request with a token, or with the cookie of the console if the path is a
// page. The outcome does not matter. read is called with the response.
func (s *siege) request(ctx context.Context, verb, path, secret, kind string, body io.Reader, read func(*http.Response)) {
	request, err := http.NewRequestWithContext(ctx, verb, s.url+path, body)
	if err != nil {
		s.Error(err)
		return
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	if secret != "" {
		request.Header.Set("Authorization", "Bearer "+secret)
		request.AddCookie(&http.Cookie{Name: "fairlead_session", Value: secret})
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return // refused, or cut off
	}
	defer response.Body.Close()
	if response.StatusCode >= 500 && response.StatusCode != http.StatusServiceUnavailable {
		s.Errorf("%s %s: %s", verb, path, response.Status)
	}
	read(response)
}

func readAll(response *http.Response) { _, _ = io.Copy(io.Discard, response.Body) }

// form returns a form with a large file.
func (s *siege) form(size int) (kind string, body []byte) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	file, err := form.CreateFormFile("lines", "lines.csv")
	if err != nil {
		s.Fatal(err)
	}
	_, _ = file.Write(bytes.Repeat([]byte("x,y\n"), size/4)) // into memory
	_ = form.Close()
	return form.FormDataContentType(), out.Bytes()
}

// unread opens one HTTP/2 connection with a closed window, and requests a path on many
// streams: the responses must wait in the node.
func (s *siege) unread(path, secret string, streams int) {
	conn, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.Error(err)
		return
	}
	defer conn.Close()
	var fields bytes.Buffer
	encoder := hpack.NewEncoder(&fields)
	framer := http2.NewFramer(conn, conn)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for i := range streams {
		fields.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "127.0.0.1"}, {":path", path}, {"authorization", "Bearer " + secret}} {
			_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: fields.Bytes(), EndStream: true, EndHeaders: true}) != nil {
			return
		}
	}
	_ = conn.SetReadDeadline(time.Now().Add(45 * time.Second)) // longer than the node waits
	for {
		if _, err := framer.ReadFrame(); err != nil {
			return
		}
	}
}

// No caller takes a node down, in any role: neither by its requests, nor by not reading
// responses.
func TestANodeSurvivesCallersOfEveryRole(t *testing.T) {
	tier.Long(t, "floods a node and measures its memory")
	t.Parallel()
	s := beginSiege(t)
	others := s.runOthers(t)
	for _, attack := range []struct {
		name string
		do   func()
	}{
		{"anonymous: files sent with a GET", func() {
			kind, body := s.form(40 << 20)
			s.atOnce(20, func(int) { s.request(t.Context(), http.MethodGet, "/login", "", kind, bytes.NewReader(body), readAll) })
		}},
		{"anonymous: files sent with a sign-in", func() {
			kind, body := s.form(40 << 20)
			s.atOnce(20, func(int) { s.request(t.Context(), http.MethodPost, "/login", "", kind, bytes.NewReader(body), readAll) })
		}},
		{"anonymous: streams of lists that are not read", func() { s.unread("/api/v1/jobs?page_size=1000", "", 200) }},
		{"viewer: streams of lists that are not read", func() { s.unread("/api/v1/jobs?page_size=1000", s.viewer, 80) }},
		{"viewer: many lists", func() {
			s.atOnce(60, func(int) {
				s.request(t.Context(), http.MethodGet, "/api/v1/jobs?page_size=1000", s.viewer, "", nil, readAll)
			})
		}},
		{"viewer: many single jobs", func() {
			s.atOnce(120, func(i int) {
				s.request(t.Context(), http.MethodGet, "/api/v1/jobs/"+s.large[i%largeJobs], s.viewer, "", nil, readAll)
			})
		}},
		{"viewer: live pages", func() { s.watchAll("/live/jobs/") }},
		{"viewer: watched jobs", func() { s.watchAll("/api/v1/jobs/") }},
		{"viewer: pages of the console", func() {
			s.atOnce(60, func(i int) {
				s.request(t.Context(), http.MethodGet, "/jobs/"+s.large[i], s.viewer, "", nil, readAll)
				s.request(t.Context(), http.MethodGet, "/jobs/"+s.large[i]+"/documents/args", s.viewer, "", nil, readAll)
			})
		}},
		{"submitter: large forms", func() {
			kind, body := s.form(15 << 20)
			s.atOnce(50, func(int) {
				s.request(t.Context(), http.MethodPost, "/new/batch", s.submitter, kind, bytes.NewReader(body), readAll)
			})
		}},
		{"submitter: very many small tasks", s.sendSmallTasks},
		{"submitter: very many small tasks, packed", func() {
			for _, bomb := range smallTasks() {
				for _, request := range bomb.requests(t, s.url) {
					s.throw(t, bomb.name, request, s.submitter, 30)
				}
			}
		}},
		{"submitter: uploads of very many small tasks", func() { s.uploadAll(smallLines()) }},
		{"submitter: uploads of large lines that are refused", func() { s.uploadAll(largeLines()) }},
		{"worker: leases of large jobs", s.leaseLarge},
		{"worker: joins with many kinds", func() {
			var kinds strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&kinds, `{"name":"kind-%d","confidential":["args.secret"]},`, i)
			}
			s.atOnce(80, func(i int) {
				body := fmt.Sprintf(`{"name":"w%d","slots":1,"handles":[%s]}`, i, strings.TrimSuffix(kinds.String(), ","))
				s.request(t.Context(), http.MethodPost, "/api/v1/workers", s.worker, "application/json", strings.NewReader(body), readAll)
			})
		}},
	} {
		s.endures(t, attack.name, attack.do)
	}
	others.stop(t)
	s.wantSmall(t)
}

// watchAll opens a stream for each large job, reads what comes first and waits a while.
func (s *siege) watchAll(path string) {
	end := "/watch"
	if strings.HasPrefix(path, "/live") {
		end = ""
	}
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	s.atOnce(largeJobs, func(i int) {
		s.request(ctx, http.MethodGet, path+s.large[i]+end, s.viewer, "", nil, readAll)
	})
}

// smallTasks returns requests with the maximum number of tasks, which are a hundred times
// larger in memory.
func smallTasks() []bomb {
	const tasks = 100_000
	inJSON := []byte(`{"name":"n","type":"t","tasks":[` + strings.Repeat(`{},`, tasks-1) + `{}]}`)
	return []bomb{
		{"small tasks", true, "", "BatchService/CreateBatch", bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 20, protowire.BytesType), nil), tasks)},
		{"small tasks in JSON", false, "/api/v1/batches", "BatchService/CreateBatch", inJSON},
		{"small source tasks in JSON", false, "/api/batch", "BatchJobService/CreateBatchJob", inJSON},
	}
}

// sendSmallTasks sends them as they are, from many callers.
func (s *siege) sendSmallTasks() {
	bombs := smallTasks()
	s.atOnce(120, func(i int) {
		bomb := bombs[i%len(bombs)]
		path, kind := bomb.path, "application/json"
		if bomb.binary {
			path, kind = "/fairlead.v1."+bomb.method, "application/proto"
		}
		s.request(s.Context(), http.MethodPost, path, s.submitter, kind, bytes.NewReader(bomb.body), readAll)
	})
}

// leaseLarge joins as workers with many slots and leases all that there is.
func (s *siege) leaseLarge() {
	s.atOnce(20, func(i int) {
		body := strings.NewReader(fmt.Sprintf(`{"name":"w%d","slots":5000,"kinds":["remote"]}`, i))
		s.request(s.Context(), http.MethodPost, "/api/v1/workers", s.worker, "application/json", body, func(response *http.Response) {
			joined := map[string]any{}
			if decode(response.Body, &joined) != nil || joined["session"] == nil {
				return
			}
			for range 3 {
				ask := strings.NewReader(fmt.Sprintf(`{"session":%q}`, joined["session"]))
				s.request(s.Context(), http.MethodPost, fmt.Sprintf("/api/v1/workers/%v/lease", joined["id"]), s.worker, "application/json", ask, readAll)
			}
		})
	})
}

func decode(from io.Reader, into any) error { return json.NewDecoder(from).Decode(into) }

// smallLines returns an upload of very many small tasks.
func smallLines() []byte {
	return []byte("target_id,target_type\n" + strings.Repeat("1,wall\n", 100_000))
}

// largeLines returns an upload of the largest possible tasks whose last line is invalid.
func largeLines() []byte {
	document := `"""` + strings.Repeat("x", 256<<10-2) + `"""`
	line := "1,wall," + document + "," + document + "\n"
	return []byte("target_id,target_type,before,after\n" + strings.Repeat(line, 48) + strings.Repeat("x", 1<<20))
}

// uploadAll uploads the same tasks many times at once, as two callers.
func (s *siege) uploadAll(lines []byte) {
	painter := strings.NewReader(`{"name":"painter","slots":1,"kinds":["wall.paint"]}`)
	s.request(s.Context(), http.MethodPost, "/api/v1/workers", s.worker, "application/json", painter, readAll)
	var mu sync.Mutex
	answers := map[int]int{}
	s.atOnce(60, func(i int) {
		secret := []string{s.submitter, s.secret}[i%2]
		s.request(s.Context(), http.MethodPost, "/api/v1/batches/upload?name=n&type=paint", secret, "text/csv", bytes.NewReader(lines), func(response *http.Response) {
			readAll(response)
			mu.Lock()
			defer mu.Unlock()
			answers[response.StatusCode]++
		})
	})
	s.Logf("the uploads are answered with %v", answers)
	if answers[http.StatusOK]+answers[http.StatusBadRequest] == 0 {
		s.Error("no upload was read")
	}
}
