// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// load_program LIBRARY plain|set: a process that knows nothing of lanewise loads it, calls it and
// unloads it, and finds everything else as it was. With `set`, the process has changed what it
// could before: floating-point modes, affinity, signal handlers, locale, OpenMP.

#include <dlfcn.h>
#include <elf.h>
#include <fenv.h>
#include <link.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lanewise/c_api.h"
#include "tests/support/process_state.h"
#include "tests/support/sanitizers.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace lanewise::testing {
namespace {

int failures = 0;

void Expect(bool ok, const std::string& what) {
  if (ok) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

void ExpectSame(const std::string& now, const std::string& before, const std::string& what) {
  Expect(now == before, what + "\n  was " + before + "\n  is  " + now);
}

std::string OpenMpSettings() {
#if defined(_OPENMP)
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  std::string text;
  for (const int setting :
       {omp_get_max_threads(), omp_get_num_threads(), omp_get_num_procs(), omp_get_dynamic(),
        omp_get_max_active_levels(), omp_get_thread_limit(), static_cast<int>(kind), chunk,
        static_cast<int>(omp_get_proc_bind()), omp_in_parallel()}) {
    text += " " + std::to_string(setting);
  }
  return text;
#else
  return " none";
#endif
}

// Of the calling thread, the process and a thread made now.
std::string State() {
  return ProcessState() + ", OpenMP" + OpenMpSettings() + "\n  " + ProcessStateOfANewThread();
}

void Ignore(int /*signal_number*/) {}

void ChangeSettings() {
  static char stack[1 << 16];
  const stack_t signal_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof(stack)};
  sigaltstack(&signal_stack, nullptr);
  for (const int signal_number : {SIGFPE, SIGSEGV, SIGILL, SIGBUS, SIGUSR1, SIGCHLD, SIGPIPE}) {
    struct sigaction action = {};
    action.sa_handler = Ignore;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(signal_number, &action, nullptr);
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  setlocale(LC_ALL, "C.UTF-8");
  setenv("LANEWISE_TEST", "1", 1);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, subnormals are zero
#endif
#if defined(_OPENMP)
  omp_set_num_threads(3);
  omp_set_dynamic(0);
  omp_set_schedule(omp_sched_guided, 7);
  omp_set_max_active_levels(2);
#endif
}

// The segments of a loaded library.
int CheckSegments(dl_phdr_info* info, size_t /*size*/, void* path) {
  if (info->dlpi_name == nullptr || std::strcmp(info->dlpi_name, static_cast<char*>(path)) != 0) {
    return 0;
  }
  bool stack_stated = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_STACK) {
      stack_stated = true;
      Expect((segment.p_flags & PF_X) == 0, "the library asks for an executable stack");
    }
    if (segment.p_type == PT_LOAD) {
      Expect((segment.p_flags & (PF_W | PF_X)) != (PF_W | PF_X),
             "a segment of the library is writable and executable");
    }
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      Expect(entry->d_tag != DT_TEXTREL, "loading the library writes to its code");
    }
  }
  Expect(stack_stated, "the library does not say that its stack is not executable");
  return 1;
}

// The functions that are called.
struct Api {
  explicit Api(void* library)
      : tensor_init(Function<decltype(&lanewise_tensor_init)>(library, "lanewise_tensor_init")),
        runtime_init(Function<decltype(&lanewise_runtime_init)>(library, "lanewise_runtime_init")),
        attention(Function<decltype(&lanewise_attention)>(library, "lanewise_attention")) {}

  template <typename F>
  static F Function(void* library, const char* name) {
    void* const found = dlsym(library, name);
    Expect(found != nullptr, name);
    if (found == nullptr) std::exit(1);
    return reinterpret_cast<F>(found);
  }

  decltype(&lanewise_tensor_init) tensor_init;
  decltype(&lanewise_runtime_init) runtime_init;
  decltype(&lanewise_attention) attention;
};

// Queries of zeros see all keys alike: every row of out is the mean of the values.
void Call(const Api& api, int threads) {
  constexpr int64_t kHeads = 4;
  constexpr int64_t kDim = 16;
  for (const int64_t queries : {int64_t{1}, int64_t{300}}) {
    const int64_t keys = 1024;
    const std::vector<float> q(static_cast<size_t>(kHeads * queries * kDim), 0.0F);
    std::vector<float> k(static_cast<size_t>(kHeads * keys * kDim), 1.0F);
    std::vector<float> v(k.size());
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i / kDim % 1024) / 1024;
    std::vector<float> out(q.size(), -1.0F);
    const int64_t q_sizes[4] = {1, kHeads, queries, kDim};
    const int64_t k_sizes[4] = {1, kHeads, keys, kDim};
    lanewise_attention_tensors tensors = {};
    api.tensor_init(&tensors.q, q.data(), LANEWISE_F32, q_sizes);
    api.tensor_init(&tensors.k, k.data(), LANEWISE_F32, k_sizes);
    api.tensor_init(&tensors.v, v.data(), LANEWISE_F32, k_sizes);
    api.tensor_init(&tensors.out, out.data(), LANEWISE_F32, q_sizes);
    lanewise_runtime runtime;
    api.runtime_init(&runtime);
    if (threads >= 0) runtime.threads = threads;
    lanewise_error error;
    Expect(api.attention(&tensors, nullptr, &runtime, &error) == LANEWISE_OK, error.message);
    const float mean = 1023.0F / 2048;
    bool right = true;
    for (const float value : out) right = right && value > mean - 1e-5F && value < mean + 1e-5F;
    Expect(right, "results, threads " + std::to_string(threads));
  }
}

void CallEverywhere(const Api& api) {
  for (const int threads : {-1, 1, 2, 5, 0}) {
    const std::string what = "calls with threads " + std::to_string(threads);
    const std::string before = State();
    Call(api, threads);
    ExpectSame(State(), before, what);
    std::thread([&] {
      const std::string before_in_thread = ProcessState();
      Call(api, threads);
      ExpectSame(ProcessState(), before_in_thread, what + " on another thread");
    }).join();
  }
}

// Starts no thread: at exit, oneTBB 2021.8 detaches the threads that its parent had, and ends a
// child in which another thread has taken their memory.
void CallInChild(const Api& api) {
  for (const int threads : {-1, 1, 2, 5, 0}) {
    const std::string before = ProcessState();
    Call(api, threads);
    ExpectSame(ProcessState(), before, "calls in the child, threads " + std::to_string(threads));
  }
}

// As a plugin that is reloaded.
void LoadAgainAndAgain(const char* path) {
  constexpr int kTimes = 30;
  for (int i = 0; i < kTimes; ++i) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    Expect(library != nullptr, "loading again");
    if (library == nullptr) return;
    Call(Api(library), 2);
    Expect(dlclose(library) == 0, "dlclose again");
  }
}

// A child made by fork() that ends like any process: by exit(), with all that libraries do then.
void ExpectChildExits(const std::function<void()>& body, const std::string& what) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kSeconds = 20;
    alarm(kSeconds);
    body();
    std::exit(failures == 0 ? 0 : 1);
  }
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Expect(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
         what + ": status " + std::to_string(status));
}

int Main(char* path, bool set) {
#if defined(__x86_64__)
  Expect((_mm_getcsr() & ~0x3FU) == 0x1F80U, "modes at the start");
#endif
  if (set) ChangeSettings();
  const std::string at_first = State();
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  ExpectSame(State(), at_first, "loading");
  Expect(ThreadCount() == 1, "loading started threads");
  Expect(dl_iterate_phdr(CheckSegments, path) == 1, "the library is not listed");

  const Api api(library);
  CallEverywhere(api);
  ExpectSame(State(), at_first, "all calls");
  ExpectChildExits([&] { CallInChild(api); }, "child after calls");

  Expect(dlclose(library) == 0, "dlclose");
  Expect(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == nullptr, "the library is still loaded");
  ExpectSame(State(), at_first, "unloading");
  LoadAgainAndAgain(path);
  ExpectSame(State(), at_first, "loading and unloading again and again");
  ExpectChildExits([] {}, "child after unloading");
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lanewise::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::printf("usage: load_program LIBRARY plain|set\n");
    return 2;
  }
  return lanewise::testing::Main(argv[1], std::string(argv[2]) == "set");
}
