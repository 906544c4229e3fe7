package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// bomb is a request that is small as it is sent and would become huge.
type bomb struct {
	name   string
	binary bool   // protobuf, otherwise JSON
	path   string // of REST
	method string // of gRPC
	body   []byte // before it is packed
}

// requestBombs returns requests that strangers and admins may send.
func requestBombs() []bomb {
	const size = 16 << 20
	repeated := func(number protowire.Number, content []byte, n int) []byte {
		return bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content), n)
	}
	zeros := make([]byte, size)
	return []bomb{
		{"messages", true, "", "JobService/EnqueueJobs", repeated(1, nil, size/2-1)},
		{"tasks", true, "", "BatchService/CreateBatch", repeated(20, nil, size/3-1)},
		{"packed numbers", true, "", "SweepService/RetrySweep", repeated(2, zeros[:size-10], 1)},
		{"texts", true, "", "JobService/ListJobs", repeated(2, nil, size/2-1)},
		{"labels", true, "", "TenantService/CreateTenant", repeated(10, nil, size/2-1)},
		{"nested documents", true, "", "JobService/EnqueueJobs", repeated(1, repeated(2, bytes.Repeat([]byte("["), size-100), 1), 1)},
		{"unknown fields", true, "", "JobService/GetJob", repeated(999, zeros[:100], size/110)},
		{"a request of a stream", true, "", "JobService/WatchJob", repeated(999, zeros[:100], size/110)},
		{"far too much", true, "", "JobService/EnqueueJobs", make([]byte, 8*size)},

		{"objects", false, "/api/v1/jobs", "JobService/EnqueueJobs", []byte(`{"jobs":[` + strings.Repeat(`{},`, size/3-10))},
		{"task objects", false, "/api/v1/batches", "BatchService/CreateBatch", []byte(`{"tasks":[` + strings.Repeat(`{},`, size/3-10))},
		{"source tasks", false, "/api/batch", "BatchJobService/CreateBatchJob", []byte(`{"tasks":[` + strings.Repeat(`{},`, size/3-10))},
		{"deep args", false, "/api/v1/jobs", "JobService/EnqueueJobs", []byte(`{"jobs":[{"args":` + strings.Repeat(`[`, size-100))},
		{"long text", false, "/api/v1/tenants", "TenantService/CreateTenant", []byte(`{"name":"` + strings.Repeat(`é`, size/2-100) + `"}`)},
		{"many members", false, "/api/v1/tenants", "TenantService/CreateTenant", []byte(`{"labels":{` + strings.Repeat(`"a":"",`, size/8))},
		{"spaces", false, "/api/v1/jobs", "JobService/EnqueueJobs", bytes.Repeat([]byte(" "), size-1)},
		{"far too much JSON", false, "/api/v1/jobs", "JobService/EnqueueJobs", bytes.Repeat([]byte("["), 8*size)},
		{"one line", false, "/api/v1/batches/upload?name=n&type=t", "", bytes.Repeat([]byte("x"), 8*size)},
		{"a document of a callback", false, "/api/v1/callbacks/1", "", bytes.Repeat([]byte("["), size)},
	}
}

func packedBytes(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return out.Bytes()
}

// requests returns the bomb in each protocol that can carry it.
func (b bomb) requests(t *testing.T, url string) []*http.Request {
	t.Helper()
	packed := packedBytes(b.body)
	framed := append(binary.BigEndian.AppendUint32([]byte{1}, uint32(len(packed))), packed...)
	var all []*http.Request
	add := func(path, kind string, body []byte, encoding string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		request.Header.Set(encoding, "gzip")
		all = append(all, request)
	}
	form := "json"
	if b.binary {
		form = "proto"
	}
	if b.method != "" {
		path := "/fairlead.v1." + b.method
		add(path, "application/"+form, packed, "Content-Encoding")
		add(path, "application/connect+"+form, framed, "Connect-Content-Encoding")
		add(path, "application/grpc+"+form, framed, "Grpc-Encoding")
		add(path, "application/grpc-web+"+form, framed, "Grpc-Encoding")
	}
	if b.path != "" {
		add(b.path, "application/json", packed, "Content-Encoding")
	}
	return all
}

// Neither strangers nor admins take a node down with a request that is larger than it
// looks: it lives, its memory stays small, and the jobs of others run meanwhile.
func TestANodeSurvivesRequestsThatAreLargerThanTheyLook(t *testing.T) {
	tier.Long(t, "floods a node and measures its memory")
	t.Parallel()
	node := startBombed(t)
	others := node.runOthers(t)
	for _, bomb := range requestBombs() {
		for _, request := range bomb.requests(t, node.url) {
			for _, secret := range []string{"", "a stranger's", node.secret} {
				node.throw(t, bomb.name, request, secret, 3)
			}
		}
	}
	others.stop(t)
	node.wantSmall(t)
}

// throw sends a request a number of times at once. gRPC is HTTP/2.
func (n *bombed) throw(t *testing.T, name string, request *http.Request, secret string, times int) {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	defer transport.CloseIdleConnections()
	isGRPC := strings.HasPrefix(request.Header.Get("Content-Type"), "application/grpc+")
	transport.Protocols.SetHTTP1(!isGRPC)
	transport.Protocols.SetUnencryptedHTTP2(isGRPC)
	var all sync.WaitGroup
	for range times {
		again := request.Clone(t.Context())
		body, err := request.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		again.Body = body
		if secret != "" {
			again.Header.Set("Authorization", "Bearer "+secret)
		}
		all.Go(func() {
			response, err := transport.RoundTrip(again)
			if err != nil {
				return // refused before it was sent whole
			}
			defer response.Body.Close()
			_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
			if response.StatusCode >= http.StatusInternalServerError && response.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s at %s as %s: %s", name, again.URL.Path, again.Header.Get("Content-Type"), response.Status)
			}
		})
	}
	all.Wait()
	if n.status(t, "/livez") != http.StatusOK {
		t.Fatalf("%s at %s as %s: the node is not live", name, request.URL.Path, request.Header.Get("Content-Type"))
	}
}
