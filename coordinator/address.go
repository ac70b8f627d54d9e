package coordinator

import (
	"net/netip"
	"strings"
)

// admits says whether a member at this address may have queues: the addresses
// in deny may not, and where allow is given only those in it may. Entries are
// addresses or CIDR blocks. An address that cannot be read is in none.
func admits(allow, deny []string, address string) bool {
	ip := hostOf(address)
	return !contained(deny, ip) && (len(allow) == 0 || contained(allow, ip))
}

// hostOf reads an address with or without a port.
func hostOf(address string) netip.Addr {
	if at, err := netip.ParseAddrPort(address); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	ip, _ := netip.ParseAddr(strings.Trim(address, "[]"))
	return ip.Unmap().WithZone("")
}

func contained(blocks []string, ip netip.Addr) bool {
	for _, text := range blocks {
		if block, err := netip.ParsePrefix(text); err == nil {
			if bits := block.Bits() - 96; block.Addr().Is4In6() && bits >= 0 {
				block = netip.PrefixFrom(block.Addr().Unmap(), bits)
			}
			if block.Contains(ip) {
				return true
			}
		} else if one := hostOf(text); one.IsValid() && one == ip {
			return true
		}
	}
	return false
}
