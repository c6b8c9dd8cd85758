package wireguard

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
)

// socket is a control over the socket of one device: what wgctrl does for those in
// its folder, for one in a folder of the test's.
type socket struct{ path string }

// exchange sends a request and returns the lines of the answer, without the last one,
// which is the error number.
func (s socket) exchange(request string) ([]string, error) {
	c, err := net.Dial("unix", s.path)
	if err != nil {
		return nil, os.ErrNotExist
	}
	defer c.Close()
	if _, err := c.Write([]byte(request + "\n")); err != nil {
		return nil, err
	}
	var lines []string
	scanner := bufio.NewScanner(c)
	for scanner.Scan() && scanner.Text() != "" {
		lines = append(lines, scanner.Text())
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("no answer: %w", scanner.Err())
	}
	last := len(lines) - 1
	if lines[last] != "errno=0" {
		return nil, fmt.Errorf("answer %s", lines[last])
	}
	return lines[:last], nil
}

func (s socket) ConfigureDevice(_ string, c wgtypes.Config) error {
	var b strings.Builder
	line := func(key string, value any) { fmt.Fprintf(&b, "%s=%v\n", key, value) }
	key := func(name string, k *wgtypes.Key) {
		if k != nil {
			line(name, hex.EncodeToString(k[:]))
		}
	}
	line("set", 1)
	key("private_key", c.PrivateKey)
	if c.ListenPort != nil {
		line("listen_port", *c.ListenPort)
	}
	if c.FirewallMark != nil {
		line("fwmark", *c.FirewallMark)
	}
	for _, p := range c.Peers {
		key("public_key", &p.PublicKey)
		if p.Remove {
			line("remove", true)
		}
		if p.UpdateOnly {
			line("update_only", true)
		}
		key("preshared_key", p.PresharedKey)
		if p.Endpoint != nil {
			line("endpoint", p.Endpoint)
		}
		if p.PersistentKeepaliveInterval != nil {
			line("persistent_keepalive_interval", int(p.PersistentKeepaliveInterval.Seconds()))
		}
		if p.ReplaceAllowedIPs {
			line("replace_allowed_ips", true)
		}
		for _, n := range p.AllowedIPs {
			line("allowed_ip", n.String())
		}
	}
	_, err := s.exchange(b.String())
	return err
}

func (s socket) Device(string) (*wgtypes.Device, error) {
	lines, err := s.exchange("get=1\n")
	if err != nil {
		return nil, err
	}
	d := &wgtypes.Device{}
	peer := func() *wgtypes.Peer { return &d.Peers[len(d.Peers)-1] }
	for _, line := range lines {
		key, value, _ := strings.Cut(line, "=")
		number, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "private_key":
			d.PrivateKey = fromHex(value)
		case "listen_port":
			d.ListenPort = int(number)
		case "fwmark":
			d.FirewallMark = int(number)
		case "public_key":
			d.Peers = append(d.Peers, wgtypes.Peer{PublicKey: fromHex(value)})
		case "preshared_key":
			peer().PresharedKey = fromHex(value)
		case "endpoint":
			peer().Endpoint = net.UDPAddrFromAddrPort(netip.MustParseAddrPort(value))
		case "last_handshake_time_sec":
			if number > 0 {
				peer().LastHandshakeTime = time.Unix(number, 0)
			}
		case "last_handshake_time_nsec":
			if number > 0 {
				peer().LastHandshakeTime = peer().LastHandshakeTime.Add(time.Duration(number))
			}
		case "tx_bytes":
			peer().TransmitBytes = number
		case "rx_bytes":
			peer().ReceiveBytes = number
		case "persistent_keepalive_interval":
			peer().PersistentKeepaliveInterval = time.Duration(number) * time.Second
		case "allowed_ip":
			_, n, err := net.ParseCIDR(value)
			if err != nil {
				return nil, err
			}
			peer().AllowedIPs = append(peer().AllowedIPs, *n)
		}
	}
	return d, nil
}

func fromHex(s string) (k wgtypes.Key) {
	raw, _ := hex.DecodeString(s)
	copy(k[:], raw)
	return k
}

// newKey is a private key, or a preshared one: the text and its public half.
func newKey(t testing.TB) (Secret, string) {
	t.Helper()
	k, err := wgtypes.GeneratePrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	return Secret(k.String() + "\n"), k.PublicKey().String()
}
