package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// forbiddenHosts returns spellings of addresses that only belong to this machine, the
// networks around it or its cloud, and tricks that hide them.
func forbiddenHosts() []string {
	return []string{
		// Loopback.
		"127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.1.", "127.255.255.254", "0127.0.0.1", "127.000.000.001", "127.0.0.01", "2130706433", "2130706433.",
		"0x7f000001", "0X7F000001", "0x7f.1", "0x7f.0.0.1", "0x7f.0x0.0x0.0x1", "017700000001", "0177.1", "0177.0.0.1", "0177.0.0.01", "0177.0.0x0.1", "00000177.0.0.1",
		"localhost", "LOCALHOST", "LocalHost", "localhost.", "localhost.localdomain", "x.localhost", "ip6-localhost", "ip6-loopback",
		"%31%32%37.0.0.1", "127%2e0%2e0%2e1", "%6cocalhost", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost",
		// This machine, whatever its address.
		"0.0.0.0", "0", "0.0", "0x0", "00", "0.0.0.0.", "0.0.0.1", "[::]", "[0:0:0:0:0:0:0:0]", "[::ffff:0.0.0.0]", "[::ffff:0:0]",
		// Loopback of IPv6, and IPv4 within IPv6.
		"[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::1%25lo]", "[::1%25eth0]", "[::ffff:127.0.0.1]", "[::FFFF:127.0.0.1]", "[::ffff:7f00:1]",
		"[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:127.0.0.1%25lo]", "[::127.0.0.1]", "[::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
		"[2002:7f00:1::]", "[2002:7f00:1::1]", "[2001:0:7f00:1::]", "[::ffff:0:127.0.0.1]",
		// Networks around it.
		"10.0.0.1", "10.1", "0xa.0.0.1", "167772161", "172.16.0.1", "192.168.0.1", "192.168.1", "[::ffff:10.0.0.1]", "[fc00::1]", "[fd12:3456::1]", "[64:ff9b::10.0.0.1]", "[2002:a00:1::]",
		"[fe80::1]", "[fe80::1%25lo]", "[fe80::1%25eth0]", "[fec0::1]", "224.0.0.1", "255.255.255.255", "[ff02::1]", "100.64.0.1",
		// Metadata of clouds.
		"169.254.169.254", "169.254.169.254.", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
		"[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]", "[2002:a9fe:a9fe::]", "100.100.100.200", "168.63.129.16", "metadata", "metadata.google.internal",
		// Who calls, and what follows the host.
		"example.org@127.0.0.1", "example.org:80@127.0.0.1", "127.0.0.1@localhost", "example.org%40127.0.0.1", "127.0.0.1%00.example.org", "127.0.0.1%23.example.org", "127.0.0.1%2f.example.org",
	}
}

// No surface reaches what only this side of the network can reach, however its URL is
// written. The listener hears connections, not only requests.
func TestNoSurfaceReachesAForbiddenAddress(t *testing.T) {
	t.Parallel()
	hosts := forbiddenHosts()
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	if n := len(hosts); n < 77 {
		t.Fatalf("there are %d spellings", n)
	}
	var heard atomic.Int32
	port := ""
	for _, address := range []string{"127.0.0.1:0", "[::1]:"} {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address+port)
		if err != nil {
			if port == "" {
				t.Fatal(err)
			}
			continue // this machine has no IPv6
		}
		if port == "" {
			_, port, _ = net.SplitHostPort(listener.Addr().String())
		}
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.NotFoundHandler(), ConnState: func(_ net.Conn, state http.ConnState) { //nolint:gosec // it is only listened to
			if state == http.StateNew {
				heard.Add(1)
			}
		}}}
		server.Start()
		t.Cleanup(server.Close)
	}
	s := newSurfaces(t, true, "--slots", "32")
	waiting := map[string]map[string]ended{}
	step := tier.Size(t, 13, 1, "every spelling on every surface")
	for i, host := range hosts {
		if i%step != 0 {
			continue
		}
		url := "http://" + host + ":" + port + "/"
		calls := s.begin(url)
		calls["sweep over a list"] = s.sweep(object{"kind": "noop", "source": object{"url": url}})
		if out, fine := s.ask("POST", sweepsPath, object{"name": s.name(), "kind": "noop", "to": 3, "gate": object{"before_create": url}}); fine {
			t.Errorf("%s: a sweep was created although the gate did not agree", url)
		} else if shown := strings.ToLower(out["detail"].(string)); strings.Contains(shown, ":53") {
			t.Errorf("%s: the answer names a server of names: %v", url, out)
		}
		waiting[url] = calls
	}
	for url, calls := range waiting {
		s.await(url, calls)
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the listener heard %d connections", n)
	}
}
