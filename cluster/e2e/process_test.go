// Package e2e runs real schedq-shard processes on real etcd members, ends and stops them, and judges what came of it.
package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"schedq/cluster/internal/command"
	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/serve"
)

const asShard = "SCHEDQ_TEST_IS_SHARD"

func TestMain(m *testing.M) {
	if os.Getenv(asShard) != "" {
		os.Exit(command.Start(os.Args[1:], os.Stdout, os.Stderr))
	}
	etcdtest.Main(m)
}

// shard is a schedq-shard.
type shard struct {
	process *exec.Cmd
	url     string
	ended   chan struct{}
	client  *http.Client
	log     bytes.Buffer // what it wrote to stderr; read it after ended
}

// startShard starts a schedq-shard with these options, and waits until it answers.
func startShard(t testing.TB, options ...string) *shard {
	s := &shard{ended: make(chan struct{}), client: &http.Client{Timeout: 20 * time.Second}}
	s.process = exec.Command(os.Args[0], append([]string{"run", "--listen", "127.0.0.1:0"}, options...)...)
	s.process.Env = append(os.Environ(), asShard+"=1")
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.process.Stderr = &s.log
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_ = s.process.Wait()
		close(s.ended)
	}()
	if at := strings.Index(line, "http://"); err == nil && at >= 0 {
		s.url = strings.TrimSpace(line[at:])
		return s
	}
	<-s.ended
	t.Logf("schedq-shard did not start: %q %v\n%s", line, err, &s.log)
	return nil
}

func (s *shard) signal(signal syscall.Signal) { _ = s.process.Process.Signal(signal) }

func (s *shard) kill() {
	s.signal(syscall.SIGKILL)
	<-s.ended
}

// ask posts a question and reads the answer.
func (s *shard) ask(path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	response, err := s.client.Post(s.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

func (s *shard) pop(most int, wait time.Duration) (pods []serve.Pod, err error) {
	err = s.ask("/pop", map[string]any{"max": most, "wait_ms": wait.Milliseconds()}, &pods)
	return pods, err
}

// word asks one thing about one ticket.
func (s *shard) word(path string, question map[string]any) (string, error) {
	var words []string
	if err := s.ask(path, question, &words); err != nil {
		return "", err
	}
	return words[0], nil
}

// getJSON reads what a process says of itself.
func getJSON(url string, answer any) error {
	response, err := http.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(answer)
}
