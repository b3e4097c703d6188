package etcd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Access is how an etcd is reached.
type Access struct {
	URLs               []string
	CACert, Cert, Key  string // files; "": none. Cert and Key need each other
	User, PasswordFile string // whose first line is the password; "": none
}

// Connect makes a client; it connects when it is used.
//
// Errors: a file that cannot be read, or is no certificate; what the client says of the URLs.
func Connect(access Access) (*clientv3.Client, error) {
	config := clientv3.Config{
		Endpoints: access.URLs, DialTimeout: 5 * time.Second, DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: 2 * time.Second,
		Username: access.User, Logger: zap.NewNop(),
	}
	if access.PasswordFile != "" {
		text, err := os.ReadFile(access.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("password of etcd's user: %w", err)
		}
		config.Password, _, _ = strings.Cut(string(text), "\n")
	}
	if access.CACert != "" || access.Cert != "" {
		info := transport.TLSInfo{TrustedCAFile: access.CACert, CertFile: access.Cert, KeyFile: access.Key}
		tls, err := info.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("certificates for etcd (%q, %q, %q): %w", access.CACert, access.Cert, access.Key, err)
		}
		config.TLS = tls
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("etcd %s: %w", strings.Join(access.URLs, ","), err)
	}
	return client, nil
}
