package group

import (
	"net/netip"
	"strings"
)

// Admits says whether a client at this address may join: one in deny may not, and
// where allow is given only one in it may. Entries are addresses or CIDR blocks.
// An address that cannot be read is in none.
func Admits(allow, deny []string, address string) bool {
	ip := hostOf(address)
	return !within(deny, ip) && (len(allow) == 0 || within(allow, ip))
}

// hostOf reads an address with or without a port.
func hostOf(address string) netip.Addr {
	if at, err := netip.ParseAddrPort(address); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	ip, _ := netip.ParseAddr(strings.Trim(address, "[]"))
	return ip.Unmap().WithZone("")
}

func within(blocks []string, ip netip.Addr) bool {
	for _, text := range blocks {
		block, ok := blockOf(text)
		if ok && block.Contains(ip) {
			return true
		}
	}
	return false
}

// blockOf reads an address or a CIDR block.
func blockOf(text string) (netip.Prefix, bool) {
	if block, err := netip.ParsePrefix(text); err == nil {
		if bits := block.Bits() - 96; block.Addr().Is4In6() && bits >= 0 {
			block = netip.PrefixFrom(block.Addr().Unmap(), bits)
		}
		return block.Masked(), true
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	ip = ip.Unmap()
	return netip.PrefixFrom(ip, ip.BitLen()), true
}
