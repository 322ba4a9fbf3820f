/*
 * fake_program.c - a program that runs kernels on the GPU of fake_cuda.c, in ranges of the real
 * NVTX: what tests/cli/time_inject.sh has recorded by the real library. Its argument is how it
 * ends.
 */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void fake_init(void);
void fake_launch(const char *name, unsigned grid, uint64_t ns);
void fake_drop(size_t records);
void fake_reset(void);

static void launches(const char *name, int count, uint64_t ns)
{
    for (int i = 0; i < count; i++)
        fake_launch(name, 132, ns);
}

static void domain_range(const char *domain_name, const char *name)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA(domain_name);
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, name);
    nvtxDomainRangePushEx(domain, &attributes);
    launches("_Z5scalePfi", 7, 3000);
    /* Not nested: the plain range ends first. */
    nvtxRangePop();
    launches("_Z5scalePfi", 8, 3000);
    nvtxDomainRangePop(domain);
}

static void *other_thread(void *unused)
{
    launches("_Z5scalePfi", 9, 3000); /* the ranges of the first thread are not its own */
    return unused;
}

static void end_as(const char *how)
{
    if (!strcmp(how, "kill")) {
        sleep(1); /* longer than between two visits of the library's thread */
        raise(SIGKILL);
    }
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "reset")) fake_reset();
    if (!strcmp(how, "drop")) fake_drop(3);
    if (!strcmp(how, "close"))
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (!strcmp(how, "fork")) {
        pid_t pid = fork(); /* it ends in order and must add nothing */
        if (pid == 0) exit(0);
        waitpid(pid, NULL, 0);
    }
    if (!strcmp(how, "many")) launches("_Z5scalePfi", 100000, 2000);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    fake_init();
    launches("_Z5earlyv", 5, 1000);
    nvtxRangePushA("forward pass");
    launches("_Z7softmaxIfLi4EEvPT_i", 10, 20000);
    nvtxRangePushA("inner");
    launches("_Z5scalePfi", 6, 3000);
    nvtxRangePop();
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    domain_range("a library", "of a library");
    launches("_Z4latev", 4, 1500);
    end_as(argc > 1 ? argv[1] : "");
    return 0;
}
