package server_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/server"
)

// grpcTo calls a method by gRPC with metadata, and returns its status: that of gRPC, or that
// of HTTP if the request does not get so far.
func (a *guardedAPI) grpcTo(url, method string, message proto.Message, metadata http.Header) string {
	a.Helper()
	raw, err := proto.Marshal(message)
	if err != nil {
		a.Fatal(err)
	}
	request, err := http.NewRequestWithContext(a.Context(), http.MethodPost, url+method, bytes.NewReader(frame(raw)))
	if err != nil {
		a.Fatal(err)
	}
	request.Header = metadata.Clone()
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	response, err := a.http2.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return response.Status
	}
	return response.Header.Get("Grpc-Status") + response.Trailer.Get("Grpc-Status")
}

// spoofed returns the headers that proxies set, and similar ones.
func spoofed(authorization ...string) http.Header {
	return http.Header{
		"X-Forwarded-For": {"198.51.100.7"}, "X-Real-Ip": {"198.51.100.7"}, "Forwarded": {"for=198.51.100.7;host=localhost;proto=https"},
		"X-Forwarded-Host": {"localhost"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-User": {"admin"}, "X-Remote-User": {"admin"},
		"X-Forwarded-Client-Cert": {"By=spiffe://x;Subject=\"CN=admin\""}, "Authorization-Bin": {"QmVhcmVyIGFkbWlu"}, "Grpc-Previous-Rpc-Attempts": {"-1"},
		"X-Http-Method-Override": {"DELETE"}, "Authorization": authorization,
	}
}

func TestMetadataDoesNotSayWhoCalls(t *testing.T) {
	a := newGuardedAPI(t)
	bound := "Bearer " + a.token(access.RoleOperator, "acme")
	const pause = fairleadv1connect.TenantServicePauseTenantProcedure
	for want, c := range map[string]struct {
		tenant, authorization string
	}{"0": {"acme", bound}, "7": {"zeta", bound}, "16": {"acme", "Bearer fl_unknown"}} {
		if got := a.grpcTo(a.url, pause, &fairleadv1.GetTenantRequest{Name: c.tenant}, spoofed(c.authorization)); got != want {
			t.Errorf("%s is paused with status %s, want %s", c.tenant, got, want)
		}
	}
	if got := a.grpcTo(a.url, pause, &fairleadv1.GetTenantRequest{Name: "acme"}, spoofed()); got != "16" {
		t.Errorf("without a token the status is %s", got)
	}
	if got := a.grpcTo(a.url, pause, &fairleadv1.GetTenantRequest{Name: "acme"}, spoofed(bound)); got != "0" {
		t.Errorf("the status is %s", got)
	}
	wantFields(t, a.lastEntry(), map[string]any{"actor": "operator acme", "from": "127.0.0.1"})
}

// A proxy may check one of them and this service another.
func TestARequestWithSeveralTokensIsRefused(t *testing.T) {
	a := newGuardedAPI(t)
	viewer, admin := "Bearer "+a.token(access.RoleViewer, "acme"), "Bearer "+a.token(access.RoleAdmin, "")
	for _, tokens := range [][]string{{viewer, admin}, {admin, viewer}, {admin, admin}, {"", admin}, {admin, ""}} {
		metadata := http.Header{"Authorization": tokens}
		if got := a.grpcTo(a.url, fairleadv1connect.TokenServiceListTokensProcedure, &fairleadv1.ListTokensRequest{}, metadata); got != "16" {
			t.Errorf("by gRPC the status is %s", got)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/api/v1/whoami", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = metadata
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("over REST the status is %d", response.StatusCode)
		}
	}
	path, run, token := a.waitingJob()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+path, strings.NewReader(`{"status":"success"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {token(run)[1], admin}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a callback is answered with %d", response.StatusCode)
	}
}

func TestMetadataIsBounded(t *testing.T) {
	a := newGuardedAPI(t)
	web := httptest.NewUnstartedServer(a.service)
	web.Config = server.Web(a.service)
	web.Start()
	defer web.Close()
	as := "Bearer " + a.token(access.RoleViewer, "")
	who := func(more http.Header) string {
		more.Set("Authorization", as)
		return a.grpcTo(web.URL, fairleadv1connect.TokenServiceWhoAmIProcedure, &fairleadv1.WhoAmIRequest{}, more)
	}
	many := http.Header{}
	for range 20_000 {
		many.Add("X-Many-Bin", "AAAA")
	}
	for what, metadata := range map[string]http.Header{"one large entry": {"X-Large": {strings.Repeat("x", 1<<20)}}, "many entries": many} {
		if got := who(metadata); got == "0" {
			t.Errorf("%s: the status is %s", what, got)
		}
	}
	for _, timeout := range []string{"99999999H", "-1S", "1", "999999999999S", "0n", "NaNm"} {
		if got := who(http.Header{"Grpc-Timeout": {timeout}}); got == "13" || got == "2" {
			t.Errorf("with the timeout %q the status is %s", timeout, got)
		}
	}
	if got := who(http.Header{}); got != "0" {
		t.Errorf("the next call has the status %s", got)
	}
}
