#include "run/device_lock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The name of a socket that has no file: the kernel has each but once, and drops it with its
 * process. In a network namespace of its own a container sees none of the others. */
static socklen_t lock_name(struct sockaddr_un *address, const struct device_info *device,
                           const char *job)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "assay %.45s %.50s", device->uuid,
             device->simulated ? job : "");
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

int device_lock(const struct device_info *device, const char *job)
{
    struct sockaddr_un address;
    if (!device->uuid[0]) return 0;
    socklen_t length = lock_name(&address, device, job);
    int held = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (held < 0) return assay_error("a lock on the GPU: %s", strerror(errno));
    if (bind(held, (const struct sockaddr *)&address, length) == 0) return 0; /* stays open */
    int why = errno;
    close(held);
    if (why != EADDRINUSE) return assay_error("a lock on the GPU: %s", strerror(why));
    return assay_error(
        "another process of a job measures on this GPU (%s %s): start no more of them "
        "than there are GPUs, or name one: --device cuda:0 shares it",
        device->name, device->uuid);
}
