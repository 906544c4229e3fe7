package httpcall

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func newGuard(t *testing.T, local bool, allow ...string) *Guard {
	t.Helper()
	guard, err := NewGuard(allow, local)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func TestWhatAddressesReach(t *testing.T) {
	strict, lenient := newGuard(t, false), newGuard(t, true)
	const never, local, world = "never", "local", "world"
	for text, want := range map[string]string{
		"127.0.0.1": local, "127.255.255.254": local, "::1": local, "::ffff:127.0.0.1": local, "::ffff:7f00:1": local,
		"10.0.0.1": local, "172.16.0.1": local, "172.31.255.255": local, "192.168.1.1": local, "::ffff:10.0.0.1": local,
		"fc00::1": local, "fd12:3456::1": local, "FD12:3456:0:0:0:0:0:1": local,

		"0.0.0.0": never, "0.1.2.3": never, "::": never, "::ffff:0.0.0.0": never, "0:0:0:0:0:0:0:0": never,
		"169.254.169.254": never, "169.254.0.1": never, "::ffff:169.254.169.254": never, "::ffff:a9fe:a9fe": never,
		"fe80::1": never, "fe80::1%eth0": never, "febf::1": never, "fec0::1": never, "feff::1": never,
		"100.64.0.1": never, "100.127.255.255": never, "100.100.100.200": never, "168.63.129.16": never,
		"192.0.0.192": never, "fd00:ec2::254": never, "fd20:ce::254": never, "fd00:0ec2:0:0:0:0:0:254": never,
		"192.0.2.1": never, "198.18.0.1": never, "198.19.255.255": never, "198.51.100.1": never, "203.0.113.1": never, "192.88.99.1": never,
		"224.0.0.1": never, "239.255.255.255": never, "240.0.0.1": never, "255.255.255.255": never, "ff02::1": never, "ff0e::1": never,
		"::127.0.0.1": never, "::10.0.0.1": never, "::8.8.8.8": never,
		"64:ff9b::127.0.0.1": never, "64:ff9b::7f00:1": never, "64:ff9b::10.0.0.1": never, "64:ff9b::169.254.169.254": never, "64:ff9b::100.64.0.1": never,
		"64:ff9b:1::1": never, "64:ff9b:1::808:808": never, "64:ff9b:1:ffff::a9fe:a9fe": never,
		"2002:7f00:1::1": never, "2002:a9fe:a9fe::1": never, "2002:808:808::1": never,
		"2001::1": never, "2001:0:7f00:1::": never, "2001:10::1": never, "2001:db8::1": never, "3fff::1": never, "100::1": never, "5f00::1": never,
		"4000::1": never,

		"8.8.8.8": world, "::ffff:8.8.8.8": world, "172.15.0.1": world, "172.32.0.1": world, "100.63.255.255": world, "100.128.0.1": world,
		"2606:4700::1": world, "2a00:1450::1": world, "64:ff9b::8.8.8.8": world,
	} {
		got := never
		address := netip.MustParseAddr(text)
		switch {
		case strict.allows(address, strict.local):
			got = world
		case lenient.allows(address, lenient.local):
			got = local
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestListedNetworksAndHostsMayBeCalled(t *testing.T) {
	guard := newGuard(t, false, "10.1.0.0/16", "::ffff:192.168.0.7", "169.254.169.254", "fd00::/8", "Intranet.Example.", "localhost")
	for text, want := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "192.168.0.7": true, "192.168.0.8": false, "169.254.169.254": true, "169.254.169.253": false,
		"fd00:ec2::254": true, "fc00::1": false, "127.0.0.1": false,
	} {
		if got := guard.allows(netip.MustParseAddr(text), false); got != want {
			t.Errorf("%s: got %t", text, got)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/99", "not-a-network/9", "https://x", "a b", "a..b", "-a", "x:80", "10.0.0", "0x7f000001", "2130706433", "*"} {
		if _, err := NewGuard([]string{bad}, false); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// victim is a server that must not be called.
func victim(t *testing.T) (server *httptest.Server, port string, hits *atomic.Int32) {
	t.Helper()
	hits = &atomic.Int32{}
	server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return server, port, hits
}

func call(t *testing.T, guard *Guard, url string) (Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Reply{}, err
	}
	return NewCaller(guard).Do(request)
}

func TestNoSpellingReachesAnAddressThatIsDenied(t *testing.T) {
	_, port, hits := victim(t)
	guard := newGuard(t, false)
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1",
		"0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
		"[2002:7f00:1::]", "127.0.0.1.", "①②⑦.⓪.⓪.①",
	} {
		if reply, err := call(t, guard, "http://"+host+":"+port+"/"); err == nil {
			t.Errorf("%s was called: %d", host, reply.Status)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the victim was called %d times", n)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	server, _, hits := victim(t)
	for _, code := range []int{301, 302, 303, 307, 308} {
		front := httptest.NewServer(http.RedirectHandler(server.URL, code))
		reply, err := call(t, newGuard(t, true), front.URL)
		front.Close()
		if err == nil || reply.Status != code {
			t.Errorf("%d: got %d, %v", code, reply.Status, err)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the victim was called %d times", n)
	}
}

func TestAProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	server, _, hits := victim(t)
	t.Setenv("HTTP_PROXY", server.URL)
	t.Setenv("ALL_PROXY", server.URL)
	target := httptest.NewServer(http.NotFoundHandler())
	defer target.Close()
	// Go itself never uses a proxy for loopback, so another name is needed.
	guard := newGuard(t, true)
	names := newNames(t, func(int) string { return "127.0.0.1" })
	guard.dialer.Resolver = names.resolver
	_, port, _ := net.SplitHostPort(target.Listener.Addr().String())
	if reply, _ := call(t, guard, "http://target.example:"+port+"/"); reply.Status != http.StatusNotFound {
		t.Errorf("the target answered %d", reply.Status)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the proxy was used %d times", n)
	}
}

// names is a server of names that may change its mind.
type names struct {
	resolver *net.Resolver
	asked    atomic.Int32
}

func newNames(t *testing.T, answer func(n int) string) *names {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{}
	n.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.serve(conn, answer)
	}()
	t.Cleanup(func() {
		conn.Close()
		<-ended
	})
	return n
}

func (n *names) serve(conn net.PacketConn, answer func(n int) string) {
	buffer := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var message dnsmessage.Message
		if message.Unpack(buffer[:size]) != nil || len(message.Questions) != 1 {
			continue
		}
		question := message.Questions[0]
		message.Response, message.Additionals = true, nil
		if question.Type == dnsmessage.TypeA {
			for text := range strings.FieldsSeq(answer(int(n.asked.Add(1)))) {
				message.Answers = append(message.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
				})
			}
		}
		if packed, err := message.Pack(); err == nil {
			_, _ = conn.WriteTo(packed, from)
		}
	}
}

func TestANameThatChangesItsMindReachesNothing(t *testing.T) {
	_, port, hits := victim(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Skipf("this machine has no second loopback address: %v", err)
	}
	honest := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
	honest.Listener.Close()
	honest.Listener = listener
	honest.Start()
	defer honest.Close()

	guard := newGuard(t, false, "127.0.0.2")
	flips := newNames(t, func(n int) string { return "127.0.0." + []string{"2", "1"}[(n+1)%2] })
	guard.dialer.Resolver = flips.resolver
	ok, denied := 0, 0
	for range 20 {
		_, err := call(t, guard, "http://flip.example:"+port+"/")
		var refusal *DeniedError
		switch {
		case err == nil:
			ok++
		case errors.As(err, &refusal):
			denied++
		default:
			t.Errorf("got %v", err)
		}
	}
	if ok != 10 || denied != 10 || hits.Load() != 0 {
		t.Errorf("%d answered, %d were denied, and the victim was called %d times", ok, denied, hits.Load())
	}
}

func TestANameWithAddressesOfBothSortsReachesNoneThatIsDenied(t *testing.T) {
	_, port, hits := victim(t)
	guard := newGuard(t, false, "127.0.0.3") // where no server listens
	for _, addresses := range []string{"127.0.0.1 127.0.0.3", "127.0.0.3 127.0.0.1", "169.254.169.254 127.0.0.1", "127.0.0.3 127.0.0.3 127.0.0.1"} {
		guard.dialer.Resolver = newNames(t, func(int) string { return addresses }).resolver
		if reply, err := call(t, guard, "http://mixed.example:"+port+"/"); err == nil {
			t.Errorf("%s was called: %d", addresses, reply.Status)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the victim was called %d times", n)
	}
}

func TestAnAliasLeadsToItsAddressAndAllowsNothingElse(t *testing.T) {
	_, port, hits := victim(t)
	guard := newGuard(t, false)
	guard.Alias("sample.invalid:80", netip.MustParseAddrPort("127.0.0.1:"+port))
	if _, err := call(t, guard, "http://sample.invalid/"); err != nil || hits.Load() != 1 {
		t.Errorf("the alias was denied, or led elsewhere: %v", err)
	}
	for _, url := range []string{"http://127.0.0.1:" + port + "/", "http://sample.invalid:" + port + "/"} {
		if _, err := call(t, guard, url); err == nil || hits.Load() != 1 {
			t.Errorf("%s was called because of the alias: %v", url, err)
		}
	}
}

func TestARefusalDoesNotTellWhatANameLeadsTo(t *testing.T) {
	guard := newGuard(t, false)
	guard.dialer.Resolver = newNames(t, func(int) string { return "10.20.30.40" }).resolver
	_, err := call(t, guard, "http://intranet.example:81/")
	var refusal *DeniedError
	if !errors.As(err, &refusal) || refusal.Address != "intranet.example:81" || strings.Contains(err.Error(), "10.20") {
		t.Errorf("got %v", err)
	}
}

func TestAnErrorNamesNoServerOfNames(t *testing.T) {
	guard := newGuard(t, false)
	nothing := newNames(t, func(int) string { return "" })
	guard.dialer.Resolver = nothing.resolver
	for _, caller := range []*Caller{NewCaller(guard), newItemCaller(guard)} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://nowhere.example/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = caller.Do(request); err == nil || !strings.HasSuffix(err.Error(), "the host cannot be resolved") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAListedHostMayBePrivateButNoMetadataService(t *testing.T) {
	_, port, hits := victim(t)
	guard := newGuard(t, false, "Listed.example")
	var address atomic.Value
	address.Store("127.0.0.1")
	guard.dialer.Resolver = newNames(t, func(int) string { return address.Load().(string) }).resolver
	if _, err := call(t, guard, "http://listed.EXAMPLE.:"+port+"/"); err != nil || hits.Load() != 1 {
		t.Errorf("a listed host was denied: %v", err)
	}
	if _, err := call(t, guard, "http://other.example:"+port+"/"); err == nil || !strings.Contains(err.Error(), "--allow-target") {
		t.Errorf("another name for the same address: %v", err)
	}
	address.Store("169.254.169.254")
	var refusal *DeniedError
	if _, err := call(t, guard, "http://listed.example/"); !errors.As(err, &refusal) {
		t.Errorf("a listed host that became a metadata service: %v", err)
	}
}
