#include "core/formats/worker_client.h"

#include "core/base/clock.h"
#include "core/formats/file_handle.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace pw::formats {

namespace {

constexpr int kStopPollMs = 25; ///< how soon a stop request is seen
constexpr std::size_t kMaxReason = 400;

/// A running child; killed and reaped when it goes out of scope.
class Child {
public:
    explicit Child(pid_t pid)
        : m_pid(pid) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (m_pid < 0)
            return;
        ::kill(m_pid, SIGKILL);
        while (::waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

    /// How it ended, as waitpid says it; nothing if it lives on after it has closed its output.
    std::optional<int> exitStatus() {
        const Stopwatch watch;
        int status = 0;
        while (::waitpid(m_pid, &status, WNOHANG) == 0) {
            if (watch.seconds() > 1.0)
                return std::nullopt;
            ::poll(nullptr, 0, 1);
        }
        m_pid = -1;
        return status;
    }

private:
    pid_t m_pid;
};

Result<pid_t> spawn(const std::string& program, const char* workerVerb, int socket) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string name = program;
    std::string option = "--worker";
    std::string verb = workerVerb;
    std::array<char*, 4> arguments = {name.data(), option.data(), verb.data(), nullptr};
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(ErrorCode::External, "cannot start \"" + program + "\": " + std::strerror(error));
    return pid;
}

/// Sends the request and gathers the answer at the same time, so that neither side waits for the other.
class Dialogue {
public:
    Dialogue(int socket, const WorkerCall& call)
        : m_socket(socket)
        , m_call(call) {}

    Result<std::string> run(const std::stop_token& stop) {
        const Stopwatch watch;
        while (true) {
            if (stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            if (watch.seconds() > m_call.timeoutSeconds)
                return fail(ErrorCode::External,
                            "no answer within " + std::to_string(static_cast<int>(m_call.timeoutSeconds)) + " s");
            pollfd event = {m_socket, static_cast<short>(POLLIN | (m_isSent ? 0 : POLLOUT)), 0};
            if (::poll(&event, 1, kStopPollMs) < 0 && errno != EINTR)
                return fail(ErrorCode::External, std::string("cannot wait for it: ") + std::strerror(errno));
            if ((event.revents & POLLOUT) != 0)
                send();
            if ((event.revents & (POLLIN | POLLHUP | POLLERR)) == 0)
                continue;
            if (!receive())
                return std::move(m_answer);
            if (m_answer.size() > m_call.maxAnswerBytes)
                return fail(ErrorCode::External, "its answer is too long");
        }
    }

private:
    void send() {
        const std::string_view head = m_call.requestHead;
        const std::string_view rest =
            m_sent < head.size() ? head.substr(m_sent) : m_call.requestBody.substr(m_sent - head.size());
        const ssize_t count =
            rest.empty() ? 0 : ::send(m_socket, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (count > 0)
            m_sent += static_cast<std::size_t>(count);
        if (count < 0 || m_sent == head.size() + m_call.requestBody.size()) {
            m_isSent = true; // all, or nobody listens any more: what it answered shows which
            ::shutdown(m_socket, SHUT_WR);
        }
    }

    /// False at the end of the answer.
    bool receive() {
        std::array<char, 65536> buffer;
        const ssize_t count = ::recv(m_socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (count <= 0)
            return false;
        m_answer.append(buffer.data(), static_cast<std::size_t>(count));
        return true;
    }

    int m_socket;
    const WorkerCall& m_call;
    std::size_t m_sent = 0;
    bool m_isSent = false;
    std::string m_answer;
};

} // namespace

Result<WorkerAnswer> callWorker(const WorkerCall& call, const std::stop_token& stop) {
    std::array<int, 2> ends = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return fail(ErrorCode::External, std::string("cannot make a socket: ") + std::strerror(errno));
    const FileHandle mine(ends[0]);
    FileHandle theirs(ends[1]);
    PW_TRY(const pid_t pid, spawn(call.program, call.verb, theirs.fd()));
    Child child(pid);
    theirs = FileHandle(); // so that its end closes when the child ends
    PW_TRY(std::string answer, Dialogue(mine.fd(), call).run(stop));
    const std::optional<int> status = child.exitStatus();
    if (status && WIFSIGNALED(*status))
        return fail(ErrorCode::External, "it died of signal " + std::to_string(WTERMSIG(*status)));
    const char verdict = answer.empty() ? '\0' : answer.front();
    if (verdict == kWorkerFailed)
        return WorkerAnswer{false, answer.substr(1, kMaxReason)};
    if (!status || *status != 0 || verdict != kWorkerOk)
        return fail(ErrorCode::External, "it gave no answer");
    answer.erase(0, 1);
    return WorkerAnswer{true, std::move(answer)};
}

} // namespace pw::formats
