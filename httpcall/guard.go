package httpcall

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Guard decides which addresses may be called. It checks the resolved address when the
// connection is made. A host name therefore cannot resolve to a different address between
// the check and the call.
type Guard struct {
	local    bool // loopback and private addresses are allowed
	networks []netip.Prefix
	hosts    map[string]bool
	aliases  map[string]string // host and port that calls name → address that they reach
	dialer   net.Dialer
}

// NewGuard returns a guard. Each entry of allow is a network in CIDR notation, a single
// address or a host name. The guard always permits listed networks and addresses. It permits
// listed hosts even if their addresses are private. It denies link-local addresses, which
// include the metadata services of clouds, and addresses that are not valid for services,
// unless their network is listed. It denies loopback and private addresses unless they are
// listed or local is true. NewGuard returns an error if an entry is invalid.
func NewGuard(allow []string, local bool) (*Guard, error) {
	g := &Guard{local: local, hosts: map[string]bool{}}
	g.dialer = net.Dialer{Timeout: 10 * time.Second, ControlContext: g.control}
	for _, text := range allow {
		if address, err := netip.ParseAddr(text); err == nil {
			address = address.Unmap()
			g.networks = append(g.networks, netip.PrefixFrom(address, address.BitLen()))
		} else if network, err := netip.ParsePrefix(text); err == nil {
			g.networks = append(g.networks, network.Masked())
		} else if isHost(text) {
			g.hosts[hostName(text)] = true
		} else {
			return nil, fmt.Errorf("%q must be a network such as 10.1.0.0/16, an IP address or a host name", text)
		}
	}
	return g, nil
}

// Alias redirects calls for hostport to an address on this machine. It permits these calls
// even though the address is private, but no other calls to that address. It is meant for
// targets inside this process, which other nodes cannot reach at that address. Call Alias
// before the guard is used.
func (g *Guard) Alias(hostport string, address netip.AddrPort) {
	if g.aliases == nil {
		g.aliases = map[string]string{}
	}
	g.aliases[hostport] = address.String()
}

var (
	hostPattern = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.?$`)
	// A name whose last part is a number is an address in one of its odd spellings.
	numberPattern = regexp.MustCompile(`(?i)(^|\.)([0-9]+|0x[0-9a-f]*)\.?$`)
)

func isHost(text string) bool {
	return len(text) <= 253 && hostPattern.MatchString(text) && !numberPattern.MatchString(text)
}

// hostName is a name of a host as it is compared.
func hostName(text string) string { return strings.ToLower(strings.TrimSuffix(text, ".")) }

// DeniedError reports a call to an address that the operator does not permit.
type DeniedError struct{ Address string } // host and port as the call specifies them, not the resolved address

// Error returns the error's text.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("calls to %s are not allowed; the operator can allow it with --allow-target", e.Address)
}

type listedHost struct{}

// dial connects to a target. Control sees its address only, so the name that is
// dialled is passed on.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	target, alias := g.aliases[address]
	if !alias {
		target = address
	}
	if err == nil && (alias || g.hosts[hostName(host)]) {
		ctx = context.WithValue(ctx, listedHost{}, true)
	}
	conn, err := g.dialer.DialContext(ctx, network, target)
	var denied *DeniedError
	if errors.As(err, &denied) {
		// The addresses of a name may be known to this side's network alone.
		return nil, &DeniedError{Address: address}
	}
	return conn, err
}

// control is called with the resolved address before each connection.
func (g *Guard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	parsed, err := netip.ParseAddrPort(address)
	listed := ctx.Value(listedHost{}) != nil
	if err != nil || !g.allows(parsed.Addr(), g.local || listed) {
		return &DeniedError{Address: address}
	}
	return nil
}

// allows reports whether an address may be called. It is judged by what it
// reaches, not by how it is written.
func (g *Guard) allows(address netip.Addr, local bool) bool {
	address = address.Unmap().WithZone("")
	for _, network := range g.networks {
		if network.Contains(address) {
			return true
		}
	}
	switch reachOf(address) {
	case reachesWorld:
		return true
	case reachesLocal:
		return local
	default:
		return false
	}
}
