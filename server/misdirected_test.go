package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// A page whose name was made to point to this machine gets the same answer from every protocol.
func TestAForeignHostIsMisdirectedByEveryProtocol(t *testing.T) {
	a := newAPI(t)
	job, err := proto.Marshal(&fairleadv1.GetJobRequest{Id: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ verb, path, kind, body string }{
		"REST":      {http.MethodGet, "/api/v1/jobs/1", "", ""},
		"an upload": {http.MethodPost, "/api/v1/batches/upload", "application/json", "{}"},
		"Connect":   {http.MethodPost, "/fairlead.v1.JobService/GetJob", "application/json", `{"id":1}`},
		"gRPC":      {http.MethodPost, "/fairlead.v1.JobService/GetJob", "application/grpc", string(frame(job))},
		"gRPC-Web":  {http.MethodPost, "/fairlead.v1.JobService/GetJob", "application/grpc-web", string(frame(job))},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.verb, a.url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "evil.example"
		request.Header.Set("Content-Type", c.kind)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		var problem struct {
			Title  string
			Status int
			Detail string
		}
		if err != nil || json.Unmarshal(body, &problem) != nil || response.StatusCode != 421 || response.Header.Get("Content-Type") != "application/problem+json" ||
			problem.Status != 421 || problem.Title != "Misdirected Request" || !strings.Contains(problem.Detail, "localhost") {
			t.Errorf("%s: %s, %s, %v: %s", name, response.Status, response.Header.Get("Content-Type"), err, body)
		}
	}
}
