/*
 * host_info.c - describes the machine from the files of kernel and distribution. Any
 * file may be missing; its property is then unknown.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/system_file.h"
#include "base/text.h"
#include "case/run_record.h"

/* The text after `key` and its separators on the first line that starts with `key`,
 * without quotes. "" when no line does. */
static void value_of(const char *text, const char *key, char *out, size_t size)
{
    out[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *value = text_begins(line, key);
        if (!value) continue;
        value += strspn(value, " \t:=\"");
        size_t length = strcspn(value, "\n\"");
        snprintf(out, size, "%.*s", (int)length, value);
        return;
    }
}

/* Evidence of one container or hypervisor: `file` exists and contains `word`. */
struct trace {
    const char *file;
    const char *word; /* NULL: that the file exists is enough */
    const char *name;
};

static const struct trace container_traces[] = {
    {"/run/.containerenv", NULL, "podman"},
    {"/.dockerenv", NULL, "docker"},
    {"/proc/1/cgroup", "kubepods", "kubernetes"},
    {"/proc/1/cgroup", "docker", "docker"},
    {"/proc/1/cgroup", "lxc", "lxc"},
    {"/proc/version", "gvisor", "gvisor"},
    {"/proc/version", "microsoft", "wsl"},
    {NULL, NULL, NULL},
};

/* The most specific first: the name of a cloud, then the kind of hypervisor. */
static const struct trace machine_traces[] = {
    {"/sys/firmware/acpi/tables/FACP", "FIRECK", "firecracker"},
    {"/proc/cmdline", "firecracker", "firecracker"},
    {"/sys/class/dmi/id/product_name", "Firecracker", "firecracker"},
    {"/sys/class/dmi/id/sys_vendor", "Amazon EC2", "ec2"},
    {"/sys/class/dmi/id/sys_vendor", "Google", "google"},
    {"/sys/class/dmi/id/sys_vendor", "Microsoft", "hyperv"},
    {"/sys/class/dmi/id/sys_vendor", "QEMU", "qemu"},
    {"/sys/class/dmi/id/sys_vendor", "VMware", "vmware"},
    {"/sys/class/dmi/id/product_name", "KVM", "kvm"},
    {"/sys/class/dmi/id/product_name", "VirtualBox", "virtualbox"},
    {"/sys/hypervisor/type", "xen", "xen"},
    {"/proc/cpuinfo", " hypervisor", "virtual machine"},
    {NULL, NULL, NULL},
};

static const char *traced(const char *root, const struct trace *traces)
{
    char text[SYSTEM_FILE_START];
    for (const struct trace *t = traces; t->file; t++)
        if (system_file_read(root, t->file, text, sizeof text) &&
            (!t->word || strstr(text, t->word)))
            return t->name;
    return "";
}

static void describe_container(struct host_info *info, const char *root)
{
    char text[SYSTEM_FILE_START], container[64];

    /* First systemd's convention for container managers, then init's environment
     * (readable by root only), then the evidence each kind leaves. */
    system_file_read(root, "/run/systemd/container", text, sizeof text);
    value_of(text, "", container, sizeof container);
    if (!container[0]) {
        system_file_read(root, "/proc/1/environ", text, sizeof text);
        value_of(text, "container=", container, sizeof container);
    }
    if (!container[0]) snprintf(container, sizeof container, "%s", traced(root, container_traces));

    const char *machine = traced(root, machine_traces);
    snprintf(info->container, sizeof info->container, "%s%s%s", container,
             container[0] && machine[0] ? ", " : "", machine);
}

bool host_cpu_name(char *out, size_t size, const char *root)
{
    char text[SYSTEM_FILE_START];
    system_file_read(root, "/proc/cpuinfo", text, sizeof text);
    value_of(text, "model name", out, size);
    return out[0] != '\0';
}

static void describe_memory(struct host_info *info, const char *root)
{
    char text[SYSTEM_FILE_START], number[64], *end;
    system_file_read(root, "/proc/meminfo", text, sizeof text);
    value_of(text, "MemTotal", number, sizeof number);
    long long kib = strtoll(number, &end, 10);
    info->memory_bytes = end != number && kib > 0 ? kib * 1024 : -1;
}

static void describe_os(struct host_info *info, const char *root)
{
    char text[SYSTEM_FILE_START];
    if (!system_file_read(root, "/etc/os-release", text, sizeof text))
        system_file_read(root, "/usr/lib/os-release", text, sizeof text);
    value_of(text, "PRETTY_NAME", info->os, sizeof info->os);
}

/* Cores this process may use, which a container or taskset may limit. */
static int32_t cores_usable(void)
{
    /* A plain cpu_set_t has 1024 processors; the kernel refuses less than the machine has. */
    for (int processors = CPU_SETSIZE; processors <= 64 * CPU_SETSIZE; processors *= 2) {
        cpu_set_t *set = CPU_ALLOC(processors);
        if (!set) return -1;
        size_t size = CPU_ALLOC_SIZE(processors);
        int failed = sched_getaffinity(0, size, set);
        int32_t count = failed ? -1 : (int32_t)CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (!failed) return count;
    }
    return -1;
}

void host_describe(struct host_info *info, const char *root)
{
    struct utsname names = {0};
    *info = (struct host_info){0};
    if (uname(&names) == 0) {
        snprintf(info->hostname, sizeof info->hostname, "%s", names.nodename);
        snprintf(info->kernel, sizeof info->kernel, "%.20s %.100s", names.sysname, names.release);
    }
    if (!host_cpu_name(info->cpu, sizeof info->cpu, root))
        snprintf(info->cpu, sizeof info->cpu, "%s", names.machine);
    describe_os(info, root);
    describe_memory(info, root);
    describe_container(info, root);
    info->cores = cores_usable();
}
