package httpcall

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// Guard decides which addresses may be called. It looks at the resolved
// address as the connection is made, so that a name cannot point elsewhere
// between the check and the call.
type Guard struct {
	local    bool // loopback and private addresses are allowed
	networks []netip.Prefix
}

// NewGuard makes a guard. Entries of allow are networks in CIDR form or single
// addresses that may be called whatever they are. Link-local addresses, among
// them the metadata services of clouds, are denied unless listed; loopback and
// private ones unless listed or local is true.
func NewGuard(allow []string, local bool) (*Guard, error) {
	g := &Guard{local: local}
	for _, text := range allow {
		network, err := parseNetwork(text)
		if err != nil {
			return nil, err
		}
		g.networks = append(g.networks, network)
	}
	return g, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return network, fmt.Errorf("%q: it must be a network such as 10.1.0.0/16: %w", text, err)
		}
		return network, nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q: it must be an address or a network such as 10.1.0.0/16: %w", text, err)
	}
	return netip.PrefixFrom(address, address.BitLen()), nil
}

// DeniedError is a call to an address that the operator has not allowed.
type DeniedError struct{ Address string }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("calls to %s are not allowed; the operator can allow it with --allow-target", e.Address)
}

// control is called with the resolved address before each connection.
func (g *Guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(parsed.Addr()) {
		return &DeniedError{Address: address}
	}
	return nil
}

func (g *Guard) allows(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	for _, network := range g.networks {
		if network.Contains(address) {
			return true
		}
	}
	switch {
	case address.IsLinkLocalUnicast(), address.IsMulticast(), address.IsUnspecified(), address == metadataV6:
		return false
	case address.IsLoopback(), address.IsPrivate():
		return g.local
	default:
		return address.IsGlobalUnicast()
	}
}

// metadataV6 is a metadata service that hides among private addresses.
var metadataV6 = netip.MustParseAddr("fd00:ec2::254")
