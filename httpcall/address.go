package httpcall

import (
	"net/netip"
	"slices"
)

// reach is what an address can get at.
type reach int

const (
	reachesNone  reach = iota // what no service should have, or only by being listed
	reachesLocal              // this machine and the networks around it
	reachesWorld
)

// prefixes reads networks that are known to be written well.
func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

var (
	// localNetworks are loopback and private networks.
	localNetworks = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

	// metadataAddresses are metadata services of clouds that hide among other addresses. The usual ones
	// are link-local.
	metadataAddresses = prefixes("168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128")

	// specialNetworks are the networks of the world's address space that lead to no
	// service of the world: the machine itself, carriers, link-local, protocols,
	// examples, tests, multicast, and those in which another address is hidden.
	specialNetworks = prefixes(
		"0.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
		"192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23",     // protocols, among them Teredo
		"2001:db8::/32", // examples
		"2002::/16",     // 6to4
		"3fff::/20",     // examples
	)

	worldV6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// reachOf judges an address that is not an IPv4 address written as IPv6.
func reachOf(address netip.Addr) reach {
	within := func(network netip.Prefix) bool { return network.Contains(address) }
	switch {
	case slices.ContainsFunc(metadataAddresses, within), slices.ContainsFunc(specialNetworks, within):
		return reachesNone
	case slices.ContainsFunc(localNetworks, within):
		return reachesLocal
	case address.Is4(), worldV6.Contains(address):
		return reachesWorld
	case nat64.Contains(address):
		// A gateway leads to the IPv4 address at its end: fine if that is the world's.
		bytes := address.As16()
		if reachOf(netip.AddrFrom4([4]byte(bytes[12:]))) == reachesWorld {
			return reachesWorld
		}
		return reachesNone
	default:
		return reachesNone
	}
}
