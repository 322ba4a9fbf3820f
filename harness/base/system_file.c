#include <stdio.h>
#include <sys/vfs.h>

#include "base/system_file.h"

bool system_file_read(const char *root, const char *path, char *text, size_t size)
{
    char full[512];
    text[0] = '\0';
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "r");
    if (!file) return false;
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0') text[i] = '\n';
    text[length] = '\0';
    return true;
}

const char *system_disk_shared(const char *path)
{
    /* statfs(2), f_type */
    static const struct {
        unsigned long type;
        const char *name;
    } shared[] = {
        {0x6969, "NFS"},        {0x517b, "SMB"},      {0xff534d42, "CIFS"},
        {0xfe534d42, "SMB2"},   {0x01021997, "9P"},   {0x00c36400, "Ceph"},
        {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x65735546, "FUSE"},
    };
    struct statfs about;
    if (statfs(path, &about) != 0) return NULL;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if ((unsigned long)(unsigned)about.f_type == shared[i].type) return shared[i].name;
    return NULL;
}
