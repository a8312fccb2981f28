#include "core/formats/onnx_worker_client.h"

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

Result<pid_t> spawn(const std::string& program, int socket) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string name = program;
    std::string verb = "--worker";
    std::string task = "onnx-shapes";
    std::array<char*, 4> arguments = {name.data(), verb.data(), task.data(), nullptr};
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
    Dialogue(int socket, char mode, std::string_view model, std::size_t maxAnswer)
        : m_socket(socket)
        , m_mode(mode)
        , m_model(model)
        , m_maxAnswer(maxAnswer) {}

    Result<std::string> run(const std::stop_token& stop, double timeoutSeconds) {
        const Stopwatch watch;
        while (true) {
            if (stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            if (watch.seconds() > timeoutSeconds)
                return fail(ErrorCode::External,
                            "no answer within " + std::to_string(static_cast<int>(timeoutSeconds)) + " s");
            pollfd event = {m_socket, static_cast<short>(POLLIN | (m_isSent ? 0 : POLLOUT)), 0};
            if (::poll(&event, 1, kStopPollMs) < 0 && errno != EINTR)
                return fail(ErrorCode::External, std::string("cannot wait for it: ") + std::strerror(errno));
            if ((event.revents & POLLOUT) != 0)
                send();
            if ((event.revents & (POLLIN | POLLHUP | POLLERR)) == 0)
                continue;
            if (!receive())
                return std::move(m_answer);
            if (m_answer.size() > m_maxAnswer)
                return fail(ErrorCode::External, "its answer is too long");
        }
    }

private:
    void send() {
        const std::string_view rest =
            m_sent == 0 ? std::string_view(&m_mode, 1) : m_model.substr(m_sent - 1); // the mode goes first, on its own
        const ssize_t count =
            rest.empty() ? 0 : ::send(m_socket, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (count > 0)
            m_sent += static_cast<std::size_t>(count);
        if (count < 0 || m_sent == m_model.size() + 1) {
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
    char m_mode;
    std::string_view m_model;
    std::size_t m_maxAnswer;
    std::size_t m_sent = 0;
    bool m_isSent = false;
    std::string m_answer;
};

} // namespace

Result<std::string> askShapeWorker(const std::string& program, char mode, std::string_view model, std::stop_token stop,
                                   double timeoutSeconds) {
    std::array<int, 2> ends = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return fail(ErrorCode::External, std::string("cannot make a socket: ") + std::strerror(errno));
    const FileHandle mine(ends[0]);
    FileHandle theirs(ends[1]);
    PW_TRY(const pid_t pid, spawn(program, theirs.fd()));
    Child child(pid);
    theirs = FileHandle(); // so that its end closes when the child ends
    const std::size_t maxAnswer = 4 * model.size() + (64U << 20);
    PW_TRY(std::string answer, Dialogue(mine.fd(), mode, model, maxAnswer).run(stop, timeoutSeconds));
    const std::optional<int> status = child.exitStatus();
    if (status && WIFSIGNALED(*status))
        return fail(ErrorCode::External, "it died of signal " + std::to_string(WTERMSIG(*status)));
    if (!answer.empty() && answer.front() == kWorkerFailed)
        return fail(ErrorCode::External, answer.substr(1, 400));
    if (!status || *status != 0 || answer.empty() || answer.front() != kWorkerOk)
        return fail(ErrorCode::External, "it gave no answer");
    answer.erase(0, 1);
    return answer;
}

} // namespace pw::formats
